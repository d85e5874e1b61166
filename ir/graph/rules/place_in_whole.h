// Where a part of a call lies in the whole: attributes of ops whose results depend on their place, so that
// masks, initial weights and indices do not depend on the number of devices. Left out, the call is the whole.
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc {

/// An axis that indices point into, as a range of a longer one.
struct AxisPart {
  int64_t start = 0; ///< index of its first element in the whole
  int64_t whole = 0; ///< length of the whole; 0: it is the whole
  void fields(AttributeVisitor& visitor) {
    visitor.field("start", start, Presence::Optional);
    visitor.field("whole", whole, Presence::Optional);
  }
  bool isPart() const { return whole != 0; }
  int64_t lengthOf(int64_t own) const { return isPart() ? whole : own; }
  /// Ok (without types), or why an axis of length `own` is no part.
  TypeResult check(std::string_view op, int64_t own) const;
  void restrictTo(SplitRange range, int64_t own);
};

/// A tensor as a box of a larger one.
struct TensorPart {
  Dims starts; ///< index of its first element in the whole; none: it is the whole
  Dims whole;  ///< shape of the whole
  void fields(AttributeVisitor& visitor) {
    visitor.field("starts", starts, Presence::Optional);
    visitor.field("whole", whole, Presence::Optional);
  }
  bool isPart() const { return !whole.empty(); }
  /// The whole's shape.
  Shape shapeOf(const Shape& own) const { return isPart() ? Shape(whole) : own; }
  /// Index in the whole, row-major, of element `index` of a part of this shape.
  int64_t indexInWhole(const Shape& own, int64_t index) const;
  /// Length of the runs that are contiguous in the whole, too: a divisor of the number of elements.
  int64_t contiguous(const Shape& own) const;
  /// Its elements, of shape `own`, in a value of the whole.
  Literal valueIn(const Literal& wholeValue, const Shape& own) const;
  /// Ok (without types), or why a tensor of this shape is no part.
  TypeResult check(std::string_view op, const Shape& own) const;
  void restrictTo(size_t axis, SplitRange range, const Shape& own);
};

/// A range of an axis of a value, as a value.
Literal sliced(const Literal& whole, size_t axis, SplitRange range);

} // namespace dfc
