// set_precision: how products of f32 operands are taken where the author left it to the plan.
//
// No row of passes.def, because it asks for the option. Runs behind the gradients, whose products have the
// precision of the matmul that they come from. Afterwards no matmul says more than it must: tf32, or nothing,
// which means ieee, so that share_common_ops takes equal products for equal.
#pragma once

#include "ir/graph/graph.h"

namespace dfc {

/// `byDefault` for every f32 matmul, fused or not, that does not state its own precision. Matmuls of other
/// types have one only.
Graph setPrecision(const Graph& graph, ops::Precision byDefault);

} // namespace dfc
