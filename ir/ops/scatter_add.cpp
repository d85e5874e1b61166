// ScatterAdd
#include "ir/assert.h"
#include "ir/gradients.h"
#include "ir/op_rules.h"

namespace dfc::ops {

TypeResult ScatterAdd::types(OperandTypes) const { DFC_UNREACHABLE("unfinished"); }
OpCost ScatterAdd::cost(OperandTypes, OperandTypes) const { DFC_UNREACHABLE("unfinished"); }
void ScatterAdd::gradient(GradientRule&) const { DFC_UNREACHABLE("unfinished"); }

} // namespace dfc::ops
