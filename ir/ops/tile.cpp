// Tile
#include "ir/assert.h"
#include "ir/gradients.h"
#include "ir/op_rules.h"

namespace dfc::ops {

TypeResult Tile::types(OperandTypes) const { DFC_UNREACHABLE("unfinished"); }
OpCost Tile::cost(OperandTypes, OperandTypes) const { DFC_UNREACHABLE("unfinished"); }
void Tile::gradient(GradientRule&) const { DFC_UNREACHABLE("unfinished"); }

} // namespace dfc::ops
