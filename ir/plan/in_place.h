// mayRunInPlace: the planner's rule of the operands that an op may overwrite with its result. Memory plans
// are checked against the verifier's own rule, ir/verify/overwrite.h; this one may allow less, never more.
#pragma once

#include "ir/graph/graph.h"

namespace dfc {

/// Whether result 0 of `op` may be the same bytes as operand `index`: an elementwise or fused op without
/// reduction whose operand has exactly the result's type (each element is read before it is written), such an
/// operand of a fused matmul's epilogue (never a factor of its product, which is read throughout), the
/// operand of a softmax, the logits of a cross-entropy's gradient, the first operand of scatterAdd and of
/// dynamicUpdateSlice, a view, or an assign's value. Never an operand that lies in a subview.
bool mayRunInPlace(const Graph& graph, OpId op, size_t index);

/// Whether a value is a part of a larger storage: a subview, or another view of one.
bool liesInSubview(const Graph& graph, ValueId value);

/// Whether result 0 must be the same bytes as operand `index` where they can be: reshape (0), subview (0,
/// from its first element on) and assign (0: the parameter's own storage).
std::optional<size_t> sharesStorageWith(const OpRow& row);

} // namespace dfc
