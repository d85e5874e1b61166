// TopK
#include "ir/assert.h"
#include "ir/gradients.h"
#include "ir/op_rules.h"

namespace dfc::ops {

TypeResult TopK::types(OperandTypes) const { DFC_UNREACHABLE("unfinished"); }
OpCost TopK::cost(OperandTypes, OperandTypes) const { DFC_UNREACHABLE("unfinished"); }
void TopK::gradient(GradientRule&) const { DFC_UNREACHABLE("unfinished"); }

} // namespace dfc::ops
