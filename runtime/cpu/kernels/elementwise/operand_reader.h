// OperandReader: the elements of one operand in the order of a broadcast, possibly permuted, iteration space,
// a tile at a time. Elements that are contiguous in that order are read in place; others are gathered into
// scratch.
#pragma once

#include "ir/graph/tensor_type.h"

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SmallVector.h>

#include <cstddef>

namespace dfc {

/// Distances, in elements, between neighbours along each axis of a row-major tensor.
llvm::SmallVector<int64_t, 8> rowMajorStrides(const Shape& shape);

/// Strides with which a tensor of shape `from` is read as if it had shape `to`, which it broadcasts to: 0 on
/// broadcast axes.
llvm::SmallVector<int64_t, 8> broadcastStrides(const Shape& from, const Shape& to);

class OperandReader {
 public:
  /// `dims` and `strides` (in elements) of the iteration space, outermost first; `width` bytes an element.
  OperandReader(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> strides, int64_t width);

  enum class Kind : uint8_t {
    Contiguous, ///< in order: read in place
    Splat,      ///< one element for all
    General,    ///< anything else
  };
  Kind kind() const { return kind_; }
  /// The innermost contiguous range of a General operand: tiles within one such range cost least.
  int64_t runLength() const { return dims_.back(); }
  /// The length of a range that the space repeats throughout, as a row of one number for each channel is;
  /// else 0.
  int64_t period() const { return dims_.size() == 2 && strides_[0] == 0 && strides_[1] == 1 ? dims_[1] : 0; }

  size_t width() const { return static_cast<size_t>(width_); } ///< bytes of an element

  /// Elements [begin, begin + count) in the order of the space: in place or in `scratch`. A Splat is written
  /// to scratch as well.
  const std::byte* read(const std::byte* base, int64_t begin, int64_t count, std::byte* scratch) const;

  /// Prefetches them where they are contiguous.
  void bringNear(const std::byte* base, int64_t begin, int64_t count) const;

 private:
  void gather(const std::byte* base, int64_t begin, int64_t count, std::byte* scratch) const;
  llvm::SmallVector<int64_t, 8> dims_, strides_; // adjacent axes are merged where they are contiguous
  int64_t width_;
  Kind kind_;
};

} // namespace dfc
