// AttentionShape: the sizes of an attention op, read from its operands' types once for type rule, cost,
// decomposition and kernels.
#pragma once

#include "ir/graph/ops/attention/attention.h"

#include <array>
#include <optional>
#include <variant>

namespace dfc {

/// Where the rows of heads lie in a tensor, in elements: its first row, and strides.
struct AttentionRows {
  int64_t heads = 1; ///< of a batch
  int64_t first = 0, batch = 0, head = 0, row = 0;
  /// The first element of a row; heads are counted over all batches.
  int64_t at(int64_t headOfAll, int64_t rowIndex) const {
    return first + headOfAll / heads * batch + headOfAll % heads * head + rowIndex * row;
  }
};

/// q: [batch…, heads, queries, width], k: [batch…, keyHeads, keys, width], v: [batch…, keyHeads, keys,
/// valueWidth], or in another layout. Operands of two axes have one head and no batch axes.
struct AttentionShape {
  Shape batch; ///< the axes before the heads
  int64_t heads = 1, keyHeads = 1;
  int64_t queries = 0, keys = 0;
  int64_t width = 0, valueWidth = 0;
  bool headAxis = false; ///< false: operands of two axes
  AttentionLayout layout = AttentionLayout::Heads;
  AttentionRows q, k, v, o, numbers; ///< of the operands, the first result, and logSumExp and delta
  void place();                      ///< sets these from the sizes and the layout

  int64_t batches() const { return batch.elements(); }
  /// Query heads that share a head of keys and values; 1 where there are none.
  int64_t group() const { return keyHeads == 0 ? 1 : heads / keyHeads; }
  /// [batch…, heads, rows, columns], or [rows, columns] without an axis of heads.
  Shape withHeads(int64_t heads, llvm::ArrayRef<int64_t> tail) const;
  Shape scores() const { return withHeads(heads, {queries, keys}); }
  Shape result() const;
  Shape rows() const; ///< of logSumExp and delta
  /// Pairs of a query and a key that it may see, over all heads; a mask operand counts as all true.
  double visiblePairs(bool causal) const;
};

/// Of f64 f64, of all other element types f32: what scores are summed in, and the type of logSumExp.
ElementType attentionSumType(ElementType element);

/// The sizes for operands q, k, v and, if `masked`, the last one as the mask; or the refusal.
std::variant<AttentionShape, TypeResult> attentionShape(OpKind kind, const ops::Attention& op,
                                                        OperandTypes operands, bool masked);
/// The same of operands that the type rule accepts.
AttentionShape knownAttentionShape(const ops::Attention& op, OperandTypes operands);

/// Elements between neighbours in batch, heads, queries and keys of a mask that broadcasts to the scores; 0:
/// the same for all. None where no one stride leads over all batch axes.
std::optional<std::array<int64_t, 4>> maskStrides(const AttentionShape& shape, const Shape& mask);

} // namespace dfc
