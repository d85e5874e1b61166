// AxisView: a tensor seen as [outer, length, inner] about one axis, so that a row along the axis is `length`
// elements, `inner` apart.
#pragma once

#include "ir/graph/tensor_type.h"

namespace dfc {

struct AxisView {
  /// `axis` may count from the end.
  AxisView(const Shape& shape, int64_t axis) {
    const auto at = static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(shape.rank()) : axis);
    for (size_t i = 0; i < shape.rank(); ++i) {
      (i < at ? outer : i == at ? length : inner) *= shape[i];
    }
  }
  int64_t outer = 1, length = 1, inner = 1;
  int64_t rows() const { return outer * inner; }
};

} // namespace dfc
