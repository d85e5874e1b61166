// Formulas that models are written with, built of ordinary ops: they appear in the graph as those ops, said
// to be written where the call is, and are differentiated, fused and placed like any other. Nothing here is
// an op of its own.
#pragma once

#include "ir/author/dsl.h"
#include "ir/base/visibility.h"

#include <optional>

namespace DFC_PUBLIC dfc {

/// How `attention` weighs.
struct AttentionOptions {
  bool causal = false;         ///< query i sees keys 0, …, i only
  std::optional<double> scale; ///< of the scores; none: 1 / sqrt(width)
};

/// Scaled dot-product attention (Vaswani et al. 2017): softmax(q kᵀ scale) v over the last axis of the
/// scores. q: [batch, heads, queries, width], k: [batch, heads, keys, width], v: [batch, heads, keys,
/// anything]; result: [batch, heads, queries, anything]. Fewer or more leading axes, and ones that broadcast,
/// do as well. Element type: a float, the same for all. The scale is applied to q, so that scores in f16
/// overflow no earlier than they must; a masked score is -infinity, whose weight is exactly 0, and no row is
/// masked throughout, as every query sees key 0. Memory: the scores, [batch, heads, queries, keys], twice.
Tensor attention(Operand q, Operand k, Operand v, AttentionOptions options = {});

/// The rows of `table` [entries, width] that `ids` (i32 or i64, any shape) name: [ids…, width]. An id below 0
/// counts from the end; one out of range gives NaN. The gradient adds up the rows of repeated ids.
Tensor embedding(Operand table, Operand ids);

} // namespace dfc
