// AttentionShape: the sizes of an attention op, read from its operands' types once for type rule, cost,
// decomposition and kernels.
#pragma once

#include "ir/graph/op.h"

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

struct AttentionSizes {
  int64_t heads = 1, keyHeads = 1; ///< of q; of k and v
  int64_t queries = 1, keys = 1;
  int64_t width = 1, valueWidth = 1; ///< of q and k; of v
  int64_t start = 0;                 ///< place of the first query among the whole's, which causal looks at
  AttentionLayout layout = AttentionLayout::Heads;
};

/// Of the operands, of the first result, and of logSumExp and delta.
struct AttentionStrides {
  AttentionRows q, k, v, o, statistics;
};
AttentionStrides attentionStrides(const AttentionSizes& sizes);

/// q: [batch…, heads, queries, width], k: [batch…, keyHeads, keys, width], v: [batch…, keyHeads, keys,
/// valueWidth], or in another layout. Operands of two axes have one head and no batch axes.
struct AttentionShape : AttentionSizes {
  Shape batch;           ///< the axes before the heads
  bool headAxis = false; ///< false: operands of two axes
  AttentionStrides at;

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
