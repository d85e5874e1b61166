// BatchNormGradient
#include "ir/assert.h"
#include "ir/gradients.h"
#include "ir/op_rules.h"

namespace dfc::ops {

TypeResult BatchNormGradient::types(OperandTypes) const { DFC_UNREACHABLE("unfinished"); }
OpCost BatchNormGradient::cost(OperandTypes, OperandTypes) const { DFC_UNREACHABLE("unfinished"); }
void BatchNormGradient::gradient(GradientRule&) const { DFC_UNREACHABLE("unfinished"); }

} // namespace dfc::ops
