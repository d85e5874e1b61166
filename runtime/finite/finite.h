// Whether the elements of a tensor are finite, and from where to where they go: for
// SessionOptions::checkFinite and for the warnings of `dfc run`.
#pragma once

#include "ir/graph/tensor_type.h"

#include <cstddef>
#include <span>
#include <string>

namespace dfc {

/// Whether no element is NaN or infinite; true of integers and truth values. `bytes`: row-major, as many as
/// the type has.
bool isFinite(const TensorType& type, std::span<const std::byte> bytes);

/// The finite elements from the smallest to the largest, and how many are not finite.
struct ElementRange {
  double lowest = 0, highest = 0; ///< where there is a finite element
  int64_t elements = 0, nans = 0, infinities = 0;
  bool finite() const { return nans == 0 && infinities == 0; }
};
ElementRange rangeOf(const TensorType& type, std::span<const std::byte> bytes);

/// "from -1 to 2.5", "from 0 to 3, 2 of 8 elements nan", "4 of 4 elements nan", "1 of 2 elements nan, 1
/// infinite", "no elements".
std::string textOf(const ElementRange& range);

} // namespace dfc
