// Trilu
#include "ir/assert.h"
#include "ir/gradients.h"
#include "ir/op_rules.h"

namespace dfc::ops {

TypeResult Trilu::types(OperandTypes) const { DFC_UNREACHABLE("unfinished"); }
OpCost Trilu::cost(OperandTypes, OperandTypes) const { DFC_UNREACHABLE("unfinished"); }
void Trilu::gradient(GradientRule&) const { DFC_UNREACHABLE("unfinished"); }

} // namespace dfc::ops
