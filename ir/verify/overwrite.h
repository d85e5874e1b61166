// Which operands a kernel may overwrite with its result, as the verifier of memory plans judges it: what
// kernels of every backend must stand, whatever plan they are given. Written from what kernels do, apart from
// ir/graph/in_place.h, by which the planner chooses; that one may allow less, never more. A mistake in either
// then shows as a plan that is refused. For ir/verify/*.cpp and tests.
#pragma once

#include "ir/graph/graph.h"

#include <optional>

namespace dfc {

/// Whether result 0 of `op` may be the very bytes of operand `index`: element i of the result is written only
/// after the bytes of element i have been read for the last time, by the computation of whichever element.
/// That holds where element i of the result alone reads element i of the operand, and both lie at the same
/// bytes: one pass over the elements, no broadcast, no reduction, equal widths. Assumes that operand and
/// result begin at the same byte.
bool mayOverwrite(const Graph& graph, OpId op, size_t index);

/// The operand whose bytes the result is by what the op means: of a reshape, which moves nothing, and of an
/// assign, after which the next step looks for the parameter in its own place.
std::optional<size_t> sameBytesAs(OpKind kind);

} // namespace dfc
