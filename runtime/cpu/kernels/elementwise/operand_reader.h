// OperandReader: the elements of one operand as a broadcast, possibly permuted, iteration space sees them, a
// tile at a time. Elements that already lie in order are read where they are; others are gathered into
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
/// stretched axes.
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
  /// The innermost run of a General operand: tiles within one such run cost least.
  int64_t runLength() const { return dims_.back(); }

  /// Elements [begin, begin + count) in the order of the space: in place or in `scratch`. A Splat is written
  /// to scratch as well.
  const std::byte* read(const std::byte* base, int64_t begin, int64_t count, std::byte* scratch) const;

  /// Asks the memory for them, where they lie in order.
  void bringNear(const std::byte* base, int64_t begin, int64_t count) const;

 private:
  void gather(const std::byte* base, int64_t begin, int64_t count, std::byte* scratch) const;
  llvm::SmallVector<int64_t, 8> dims_, strides_; // neighbours merged where they continue one another
  int64_t width_;
  Kind kind_;
};

} // namespace dfc
