// Dropout
#include "ir/assert.h"
#include "ir/gradients.h"
#include "ir/op_rules.h"

namespace dfc::ops {

TypeResult Dropout::types(OperandTypes) const { DFC_UNREACHABLE("unfinished"); }
OpCost Dropout::cost(OperandTypes, OperandTypes) const { DFC_UNREACHABLE("unfinished"); }
void Dropout::gradient(GradientRule&) const { DFC_UNREACHABLE("unfinished"); }

} // namespace dfc::ops
