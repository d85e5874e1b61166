// Split
#include "ir/assert.h"
#include "ir/gradients.h"
#include "ir/op_rules.h"

namespace dfc::ops {

TypeResult Split::types(OperandTypes) const { DFC_UNREACHABLE("unfinished"); }
OpCost Split::cost(OperandTypes, OperandTypes) const { DFC_UNREACHABLE("unfinished"); }
void Split::gradient(GradientRule&) const { DFC_UNREACHABLE("unfinished"); }

} // namespace dfc::ops
