// Conv2d
#include "ir/assert.h"
#include "ir/gradients.h"
#include "ir/op_rules.h"

namespace dfc::ops {

TypeResult Conv2d::types(OperandTypes) const { DFC_UNREACHABLE("unfinished"); }
OpCost Conv2d::cost(OperandTypes, OperandTypes) const { DFC_UNREACHABLE("unfinished"); }
void Conv2d::gradient(GradientRule&) const { DFC_UNREACHABLE("unfinished"); }

} // namespace dfc::ops
