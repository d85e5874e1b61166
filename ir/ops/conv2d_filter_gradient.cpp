// Conv2dFilterGradient
#include "ir/assert.h"
#include "ir/gradients.h"
#include "ir/op_rules.h"

namespace dfc::ops {

TypeResult Conv2dFilterGradient::types(OperandTypes) const { DFC_UNREACHABLE("unfinished"); }
OpCost Conv2dFilterGradient::cost(OperandTypes, OperandTypes) const { DFC_UNREACHABLE("unfinished"); }
void Conv2dFilterGradient::gradient(GradientRule&) const { DFC_UNREACHABLE("unfinished"); }

} // namespace dfc::ops
