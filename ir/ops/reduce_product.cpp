// ReduceProduct
#include "ir/assert.h"
#include "ir/gradients.h"
#include "ir/op_rules.h"

namespace dfc::ops {

TypeResult ReduceProduct::types(OperandTypes) const { DFC_UNREACHABLE("unfinished"); }
OpCost ReduceProduct::cost(OperandTypes, OperandTypes) const { DFC_UNREACHABLE("unfinished"); }
void ReduceProduct::gradient(GradientRule&) const { DFC_UNREACHABLE("unfinished"); }

} // namespace dfc::ops
