// mayOverwrite: the verifier's rule of the operands that a kernel may overwrite with its result. Kernels of
// every backend have to be correct under it. It is derived from the access patterns of kernels, independently
// of the planner's rule (ir/plan/in_place.h), which may allow less but never more. A mistake in the planner's
// rule therefore shows as a refused plan. For ir/verify/*.cpp and tests.
#pragma once

#include "ir/graph/graph.h"

#include <optional>

namespace dfc {

/// Whether result 0 of `op` may be the very bytes of operand `index`: element i of the result is written only
/// after the bytes of element i have been read for the last time, by the computation of whichever element.
/// That holds where element i of the result alone reads element i of the operand, and both lie at the same
/// bytes: one pass over the elements, no broadcast, no reduction, equal widths. It also holds where a row of
/// the result alone reads that row of the operand, and all of it before it writes (softmax). Assumes that
/// operand and result begin at the same byte.
bool mayOverwrite(const Graph& graph, OpId op, size_t index);

/// The operand whose storage the result has by definition: a reshape moves no bytes, and an assign writes its
/// parameter's own storage, where the next step reads it.
std::optional<size_t> sameBytesAs(OpKind kind);

} // namespace dfc
