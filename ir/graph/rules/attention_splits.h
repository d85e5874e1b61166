// Split rules of attention and its gradient. Batch axes and heads are free: (b h q w, b g k w, b g k x)->(b h
// q x), the heads in groups that share a head of keys. Rows of queries are free, too; a causal part is told
// its first row, and gradients to keys and values are partial sums. Keys are not cut, as the softmax is over
// all of them (in the gradient's decomposition, too), nor are packed heads and rows, which are those of
// queries and keys at once.
#pragma once

#include "ir/graph/ops/attention/attention.h"

namespace dfc {

SplitRule attentionSplit(const ops::Attention& op, OperandTypes operands, OperandTypes results);
SplitRule attentionGradientSplit(const ops::Attention& op, OperandTypes operands, OperandTypes results);
/// Whether the part has some of the queries.
bool attentionQueriesCut(const ops::Attention& op, const SplitPart& part);

} // namespace dfc
