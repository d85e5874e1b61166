// AttentionPattern: an attention that an author wrote out, as products, masks and a softmax.
//
// Seen are, around softmax(scores) v with scores = q kᵀ:
// - the product q kᵀ with a transposed operand, a transpose op, or k stored as [..., width, keys]
// - a scale: scores, q or k times or by a number
// - masks: select(condition, scores, low), and scores plus a term that is 0 or low; low is -infinity, or a
//   number of -1e4 or below where every query is known to see a key
// - softmax as an op, as exp(logSoftmax), and as exp(x - max) / sum with or without the shift
// - casts between floats, reshapes of the axes before queries and keys, zeros put in the place of masked
//   weights, and heads of k and v that are repeated for groups of heads of q
#pragma once

#include "compiler/passes/attention_mask.h"
#include "ir/graph/graph.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/ADT/SmallVector.h>

namespace dfc {

/// One of q, k and v, as the graph has it and as the op takes it.
struct AttentionOperand {
  ValueId value;
  bool transposed = false; ///< its last two axes are to be swapped
  Shape shape;             ///< [batch…, heads, rows, columns], after that
};

struct AttentionPattern {
  AttentionOperand q, k, v;
  bool causal = false;
  double scale = 1;
  Precision precision = Precision::Unstated;
  llvm::SmallVector<KeyMask, 2> masks;      ///< that become an operand, all of them
  llvm::SmallVector<OpId, 12> intermediate; ///< ops that only this attention reads
};

class AttentionMatcher {
 public:
  /// `isWrittenAnew`: ops that do not count as readers, since they will be differentiated anew.
  AttentionMatcher(const Graph& graph, llvm::function_ref<bool(OpId)> isWrittenAnew);
  /// The attention that ends in this matrix product; none where it is something else, or where something else
  /// reads, fetches or pins one of its steps.
  std::optional<AttentionPattern> match(OpId product);

 private:
  const Graph& graph_;
  SideTable<ValueId, uint32_t> uses_; // by ops, fetches and requests for gradients
  AttentionMasks masks_;
};

} // namespace dfc
