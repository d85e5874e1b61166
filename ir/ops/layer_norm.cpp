// LayerNorm
#include "ir/assert.h"
#include "ir/gradients.h"
#include "ir/op_rules.h"

namespace dfc::ops {

TypeResult LayerNorm::types(OperandTypes) const { DFC_UNREACHABLE("unfinished"); }
OpCost LayerNorm::cost(OperandTypes, OperandTypes) const { DFC_UNREACHABLE("unfinished"); }
void LayerNorm::gradient(GradientRule&) const { DFC_UNREACHABLE("unfinished"); }

} // namespace dfc::ops
