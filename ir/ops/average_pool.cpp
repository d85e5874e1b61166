// AveragePool
#include "ir/assert.h"
#include "ir/gradients.h"
#include "ir/op_rules.h"

namespace dfc::ops {

TypeResult AveragePool::types(OperandTypes) const { DFC_UNREACHABLE("unfinished"); }
OpCost AveragePool::cost(OperandTypes, OperandTypes) const { DFC_UNREACHABLE("unfinished"); }
void AveragePool::gradient(GradientRule&) const { DFC_UNREACHABLE("unfinished"); }

} // namespace dfc::ops
