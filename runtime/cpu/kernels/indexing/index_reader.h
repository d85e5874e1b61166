// IndexReader: indices in memory, i32 or i64, as positions along an axis.
#pragma once

#include "ir/graph/tensor_type.h"

#include <cstddef>

namespace dfc {

class IndexReader {
 public:
  /// Indices of this type along an axis of `length`.
  IndexReader(const TensorType& type, int64_t length)
      : wide_(type.element == ElementType::I64), count_(type.shape.elements()), length_(length) {}

  int64_t count() const { return count_; }
  int64_t length() const { return length_; }
  /// The position that index `at` names: counted from the end where it is negative, -1 where out of range.
  int64_t place(const std::byte* indices, int64_t at) const {
    const int64_t index =
        wide_ ? reinterpret_cast<const int64_t*>(indices)[at] : reinterpret_cast<const int32_t*>(indices)[at];
    const int64_t counted = index < 0 ? index + length_ : index;
    return counted >= 0 && counted < length_ ? counted : -1;
  }

 private:
  bool wide_;
  int64_t count_, length_;
};

} // namespace dfc
