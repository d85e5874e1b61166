// AveragePoolGradient
#include "ir/assert.h"
#include "ir/gradients.h"
#include "ir/op_rules.h"

namespace dfc::ops {

TypeResult AveragePoolGradient::types(OperandTypes) const { DFC_UNREACHABLE("unfinished"); }
OpCost AveragePoolGradient::cost(OperandTypes, OperandTypes) const { DFC_UNREACHABLE("unfinished"); }
void AveragePoolGradient::gradient(GradientRule&) const { DFC_UNREACHABLE("unfinished"); }

} // namespace dfc::ops
