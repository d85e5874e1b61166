// geluSlopeOf: recognises a product times the slope of gelu's tanh form, which is what the gradient of
// gelu(add(matmul(x, w), bias)) comes to once fused, for libraries that have it as one epilogue.
//
// The slope is what the gradient rule of gelu writes: the rule itself is asked, so that there is no second
// copy of it. Operands must stand in the rule's order, which the passes keep; a body that says the same
// otherwise is not recognised.
#pragma once

#include "ir/graph/graph.h"

#include <optional>

namespace dfc {

/// The operand, by its index in the fusedMatmul `op`, whose slope multiplies the product: of the product's
/// type, and no constant. None where the body is anything else, the slope of gelu's erf form among it.
std::optional<size_t> geluSlopeOf(const Graph& graph, OpId op);

} // namespace dfc
