// MaskRows: attention's mask, read a query at a time.
#pragma once

#include "ir/graph/rules/attention_shape.h"

#include <cstddef>

namespace dfc {

/// A bool mask that broadcasts to the scores; or no mask.
class MaskRows {
 public:
  MaskRows() = default; ///< every query sees every key
  MaskRows(const AttentionShape& shape, const TensorType& mask);
  /// values[j] = `hidden` for each key j of [0, count) that the query does not see. `head` counts the heads
  /// of all batches. `mask`: the operand's bytes.
  template <class T>
  void apply(const std::byte* mask, int64_t head, int64_t query, T* values, int64_t count, T hidden) const;

 private:
  bool masks_ = false;
  llvm::SmallVector<int64_t, 8> dims_, strides_; // of [batch…, heads]
  int64_t queryStride_ = 0, keyStride_ = 0;
};

} // namespace dfc
