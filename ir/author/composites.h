// Formulas that models are written with: they appear in the graph as the ops that they are made of, said to
// be written where the call is, and are differentiated, fused and placed like any other.
#pragma once

#include "ir/author/dsl.h"
#include "ir/base/visibility.h"

#include <optional>

namespace DFC_PUBLIC dfc {

/// How `attention` weighs.
struct AttentionOptions {
  bool causal = false;              ///< query i sees keys 0, …, i only
  std::optional<double> scale = {}; ///< of the scores, not 0; none: 1 / sqrt(width)
  Tensor mask = {}; ///< bool, broadcasts to the scores: true where a query may see a key; empty: everywhere
  Precision precision = Precision::Unstated; ///< of its products, where the elements are f32
};

/// Scaled dot-product attention (Vaswani et al. 2017): softmax(scale q kᵀ) v over the keys that a query sees.
/// q: [batch…, heads, queries, width], k: [batch…, keyHeads, keys, width], v: [batch…, keyHeads, keys,
/// valueWidth]; result: [batch…, heads, queries, valueWidth]. heads is a multiple of keyHeads: neighbouring
/// heads of q share a head of k and v (grouped-query attention). Of two axes, there is one head; batch axes
/// broadcast. Element type: a float, the same for all. A query that sees no key gives zeros. One op of the
/// table (ir/graph/ops/attention): where every kind of device has a kernel for its type and widths, the
/// scores are never stored; otherwise it becomes products and a softmax.
Tensor attention(Operand q, Operand k, Operand v, AttentionOptions options = {});

/// The rows of `table` [entries, width] that `ids` (i32 or i64, any shape) name: [ids…, width]. An id below 0
/// counts from the end; one out of range gives NaN. The gradient adds up the rows of repeated ids.
Tensor embedding(Operand table, Operand ids);

} // namespace dfc
