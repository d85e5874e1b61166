// AttentionPattern: an attention that is written as matrix products, masks and a softmax.
//
// Recognised are, around softmax(scores) v with scores = q kᵀ:
// - the product q kᵀ with a transposed operand, a transpose op, or k stored as [..., width, keys]
// - a scale: scores, q or k multiplied or divided by a number
// - masks: select(condition, scores, low), and an additive bias of 0 and low; low is -infinity, or a number
// of -1e4 or
//   below if every query is known to have an unmasked key
// - softmax as an op, as exp(logSoftmax), and as exp(x - max) / sum with or without the shift
// - casts between floats, reshapes of the leading axes (all but the last two), weights of masked keys set to
// 0, and
//   heads of k and v repeated for groups of heads of q (grouped-query attention)
#pragma once

#include "compiler/passes/attention/attention_mask.h"
#include "ir/graph/graph.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/ADT/SmallVector.h>

namespace dfc {

/// One of q, k and v: a value of the graph, and how it becomes an operand of the op.
struct AttentionOperand {
  ValueId value;
  bool transposed = false; ///< its last two axes are to be swapped
  Shape shape;             ///< [batch…, heads, rows, columns], to which it is then reshaped
};

struct AttentionPattern {
  AttentionOperand q, k, v;
  bool causal = false;
  double scale = 1;
  Precision precision = Precision::Unstated;
  llvm::SmallVector<KeyMask, 2> masks;      ///< those that become the mask operand, joined by `and`
  llvm::SmallVector<OpId, 12> intermediate; ///< ops whose results have no use outside of this attention
};

class AttentionMatcher {
 public:
  /// `isWrittenAnew`: ops that do not count as uses: gradients that are computed again after the rewrite.
  AttentionMatcher(const Graph& graph, llvm::function_ref<bool(OpId)> isWrittenAnew);
  /// The attention whose last op is this matrix product; none if it does not match, or if an intermediate
  /// value has another use, is fetched, or has another pin.
  std::optional<AttentionPattern> match(OpId product);

 private:
  const Graph& graph_;
  SideTable<ValueId, uint32_t> uses_; // by ops, fetches and requests for gradients
  AttentionMasks masks_;
};

} // namespace dfc
