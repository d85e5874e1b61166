// MaxPool
#include "ir/assert.h"
#include "ir/gradients.h"
#include "ir/op_rules.h"

namespace dfc::ops {

TypeResult MaxPool::types(OperandTypes) const { DFC_UNREACHABLE("unfinished"); }
OpCost MaxPool::cost(OperandTypes, OperandTypes) const { DFC_UNREACHABLE("unfinished"); }
void MaxPool::gradient(GradientRule&) const { DFC_UNREACHABLE("unfinished"); }

} // namespace dfc::ops
