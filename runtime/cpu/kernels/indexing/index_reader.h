// IndexReader: indices in memory, i32 or i64, as positions along an axis, or along a part of one.
#pragma once

#include "ir/graph/rules/place_in_whole.h"

#include <cstddef>

namespace dfc {

class IndexReader {
 public:
  /// Indices of this type along an axis of `length`.
  IndexReader(const TensorType& type, int64_t length, const AxisPart& part)
      : wide_(type.element == ElementType::I64), count_(type.shape.elements()), length_(length),
        start_(part.start), whole_(part.lengthOf(length)) {}

  int64_t count() const { return count_; }
  int64_t length() const { return length_; }
  static constexpr int64_t nothing = -1, elsewhere = -2; ///< out of range; in another part of the axis
  /// The position that index `at` names, counted from the end of the whole where it is negative; or one of
  /// these.
  int64_t place(const std::byte* indices, int64_t at) const {
    const int64_t index =
        wide_ ? reinterpret_cast<const int64_t*>(indices)[at] : reinterpret_cast<const int32_t*>(indices)[at];
    const int64_t counted = (index < 0 ? index + whole_ : index) - start_;
    if (counted >= 0 && counted < length_) {
      return counted;
    }
    return counted + start_ >= 0 && counted + start_ < whole_ ? elsewhere : nothing;
  }

 private:
  bool wide_;
  int64_t count_, length_, start_, whole_;
};

} // namespace dfc
