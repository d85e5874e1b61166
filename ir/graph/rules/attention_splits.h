// Split rules of attention and its gradient. Batch axes and heads are free: (b h q w, b g k w, b g k x)->(b h
// q x), the heads in groups that share a head of keys. Rows of queries are free where attention is not
// causal, as a part does not know which row it begins with; gradients to keys and values are partial sums
// then. Keys are not cut, as the softmax is over all of them (in the gradient's decomposition, too), nor are
// packed heads.
#pragma once

#include "ir/graph/ops/attention/attention.h"

namespace dfc {

SplitRule attentionSplit(const ops::Attention& op, OperandTypes operands, OperandTypes results);
SplitRule attentionGradientSplit(const ops::Attention& op, OperandTypes operands, OperandTypes results);

} // namespace dfc
