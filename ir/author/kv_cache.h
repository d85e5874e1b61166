// KvCache: the keys and values of the tokens that a decoder has seen, kept from step to step, so that a step
// computes those of its new tokens alone. Written in ordinary ops: dynamicUpdateSlice puts the new rows into
// parameters, in place, and attention sees the rows that are written. Two graphs whose caches have the same
// names and sizes, one that reads a prompt and one that decodes, share them where their sessions share state.
#pragma once

#include "ir/author/composites.h"

namespace DFC_PUBLIC dfc {

/// The sizes of a cache.
struct KvCacheSizes {
  int64_t batch = 1;                      ///< sequences, all at one position
  int64_t heads = 1;                      ///< of keys and values
  int64_t rows = 0;                       ///< tokens that are kept
  int64_t width = 0;                      ///< of a key and of a value
  ElementType element = ElementType::F32; ///< of keys and values
  /// Whether a token takes the row of the one `rows` before it: a sliding window over a text without end.
  /// Otherwise a text has `rows` tokens at most.
  bool ring = false;
  /// Tokens that a query sees, itself included; 0 for all that are kept: `rows`, less the other tokens of a
  /// step where the cache is a ring.
  int64_t window = 0;
};

/// The cache of one layer. See the top of this file.
class KvCache {
 public:
  /// Two parameters, "<name>.keys" and "<name>.values", [batch, heads, rows, width], of zeros.
  KvCache(Builder& builder, const std::string& name, const KvCacheSizes& sizes,
          std::source_location where = std::source_location::current());

  /// Causal attention of the step's tokens over the cache and themselves. q: [batch, query heads, tokens,
  /// width]; k and v: [batch, heads, tokens, width], which become rows of the cache; heads are shared as in
  /// `attention`. position: i64[], that of the first of the tokens in its text. Call it once in a graph.
  ///
  /// A text begins anew at position 0: what was written before is not seen, so a reset costs nothing. Tokens
  /// behind the last of a shorter prompt may be anything, where the next position is that of the first of
  /// them. Without a ring, position + tokens <= rows; in a ring positions are multiples of the tokens of a
  /// step, which divide the rows.
  Tensor attend(Tensor q, Tensor k, Tensor v, Tensor position, AttentionOptions options = {},
                std::source_location where = std::source_location::current());

 private:
  bool fits(Tensor k, Tensor v, Tensor position, std::source_location where) const;
  Tensor visible(Tensor position, int64_t tokens) const;

  Builder& builder_;
  KvCacheSizes sizes_;
  Tensor keys_, values_;
};

/// A position that the plan keeps: a parameter `name`, i64[], from 0 on, to which each step adds `tokens`.
/// reset: bool[], true in a step that begins a text anew; empty: only Session::setState resets it.
Tensor countedPosition(Builder& builder, const std::string& name, int64_t tokens, Tensor reset = {},
                       std::source_location where = std::source_location::current());

} // namespace dfc
