// Gather
#include "ir/assert.h"
#include "ir/gradients.h"
#include "ir/op_rules.h"

namespace dfc::ops {

TypeResult Gather::types(OperandTypes) const { DFC_UNREACHABLE("unfinished"); }
OpCost Gather::cost(OperandTypes, OperandTypes) const { DFC_UNREACHABLE("unfinished"); }
void Gather::gradient(GradientRule&) const { DFC_UNREACHABLE("unfinished"); }

} // namespace dfc::ops
