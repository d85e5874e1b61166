// MaxPoolGradient
#include "ir/assert.h"
#include "ir/gradients.h"
#include "ir/op_rules.h"

namespace dfc::ops {

TypeResult MaxPoolGradient::types(OperandTypes) const { DFC_UNREACHABLE("unfinished"); }
OpCost MaxPoolGradient::cost(OperandTypes, OperandTypes) const { DFC_UNREACHABLE("unfinished"); }
void MaxPoolGradient::gradient(GradientRule&) const { DFC_UNREACHABLE("unfinished"); }

} // namespace dfc::ops
