// BatchNorm
#include "ir/assert.h"
#include "ir/gradients.h"
#include "ir/op_rules.h"

namespace dfc::ops {

TypeResult BatchNorm::types(OperandTypes) const { DFC_UNREACHABLE("unfinished"); }
OpCost BatchNorm::cost(OperandTypes, OperandTypes) const { DFC_UNREACHABLE("unfinished"); }
void BatchNorm::gradient(GradientRule&) const { DFC_UNREACHABLE("unfinished"); }

} // namespace dfc::ops
