// ReduceMin
#include "ir/assert.h"
#include "ir/gradients.h"
#include "ir/op_rules.h"

namespace dfc::ops {

TypeResult ReduceMin::types(OperandTypes) const { DFC_UNREACHABLE("unfinished"); }
OpCost ReduceMin::cost(OperandTypes, OperandTypes) const { DFC_UNREACHABLE("unfinished"); }
void ReduceMin::gradient(GradientRule&) const { DFC_UNREACHABLE("unfinished"); }

} // namespace dfc::ops
