// RmsNorm
#include "ir/assert.h"
#include "ir/gradients.h"
#include "ir/op_rules.h"

namespace dfc::ops {

TypeResult RmsNorm::types(OperandTypes) const { DFC_UNREACHABLE("unfinished"); }
OpCost RmsNorm::cost(OperandTypes, OperandTypes) const { DFC_UNREACHABLE("unfinished"); }
void RmsNorm::gradient(GradientRule&) const { DFC_UNREACHABLE("unfinished"); }

} // namespace dfc::ops
