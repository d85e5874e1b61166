// Access: a tensor read through strides while a row-major walk counts elements. Broadcast, slice and
// transpose are accesses; so are the kept and the reduced axes of a reduction.
#pragma once

#include "ir/graph/tensor_type.h"

#include "compiler/lower/kernels/code.h"

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SmallVector.h>

namespace dfc::cuda {

class Access {
 public:
  struct Axis {
    int64_t extent = 1, stride = 0; ///< elements
  };

  Access() = default;
  /// `axes` outermost first; each element `base` + sum of index * stride is read. Axes that can be walked as
  /// one are merged.
  explicit Access(llvm::ArrayRef<Axis> axes, int64_t base = 0);
  /// A dense tensor of shape `operand` stretched to `common`.
  static Access broadcast(const Shape& operand, const Shape& common);

  bool uniform() const { return axes_.empty() || (axes_.size() == 1 && axes_[0].stride == 0); }
  /// Element i of the walk is element i.
  bool flat() const { return base_ == 0 && axes_.size() == 1 && axes_[0].stride == 1; }
  /// One past the largest offset that is read.
  int64_t reach() const;

  /// The offset of element number `at` (an expression's text) of the walk.
  std::string offset(std::string_view at, const IndexText& index) const;
  /// The statements of `Pack<type, W> read(const type* from, Index i)`: elements i, …, i + W - 1 of the walk,
  /// where i is a multiple of W and W divides `width`.
  std::string reader(std::string_view type, int64_t width, const IndexText& index) const;

 private:
  bool aligned(int64_t width) const;
  llvm::SmallVector<Axis, 8> axes_; ///< outermost first, none of extent 1
  int64_t base_ = 0;
};

} // namespace dfc::cuda
