// Conv2dInputGradient
#include "ir/assert.h"
#include "ir/gradients.h"
#include "ir/op_rules.h"

namespace dfc::ops {

TypeResult Conv2dInputGradient::types(OperandTypes) const { DFC_UNREACHABLE("unfinished"); }
OpCost Conv2dInputGradient::cost(OperandTypes, OperandTypes) const { DFC_UNREACHABLE("unfinished"); }
void Conv2dInputGradient::gradient(GradientRule&) const { DFC_UNREACHABLE("unfinished"); }

} // namespace dfc::ops
