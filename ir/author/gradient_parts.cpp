#include "ir/author/gradient_parts.h"

#include "ir/author/dsl.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc {
namespace {

Dims dimsOf(const Shape& shape) { return {shape.dims().begin(), shape.dims().end()}; }

} // namespace

Tensor reshapedTo(Tensor tensor, const Shape& shape) {
  return tensor.valid() && !(tensor.shape() == shape) ? reshape(tensor, dimsOf(shape)) : tensor;
}

Tensor withAxesKept(Tensor reduced, const Shape& full, llvm::ArrayRef<int64_t> axes) {
  const std::optional<Dims> normal = normalAxes(axes, full.rank());
  DFC_ASSERT(normal, "axes of a reduction that its type rule accepted");
  return reshapedTo(reduced, reducedShape(full, *normal, true));
}

Tensor stretched(Tensor reduced, const Shape& full, llvm::ArrayRef<int64_t> axes) {
  if (!reduced.valid() || reduced.shape() == full) {
    return reduced;
  }
  // Leading axes need no 1 in their place, because broadcasting aligns at the last axis.
  const std::optional<Dims> normal = normalAxes(axes, full.rank());
  const bool leading =
      normal && (normal->empty() || normal->back() + 1 == static_cast<int64_t>(normal->size()));
  return broadcast(leading ? reduced : withAxesKept(reduced, full, axes), dimsOf(full));
}

Tensor zerosOf(Builder& builder, const TensorType& type) {
  const Tensor zero = builder.scalar(type.element, 0);
  return type.shape.rank() == 0 ? zero : broadcast(zero, dimsOf(type.shape));
}

Tensor widened(Tensor tensor) {
  const bool half = tensor.valid() && byteWidth(tensor.type().element) == 2;
  return half ? cast(tensor, ElementType::F32) : tensor;
}

Tensor narrowed(Tensor tensor, ElementType element) {
  return !tensor.valid() || tensor.type().element == element ? tensor : cast(tensor, element);
}

Tensor summedTo(Tensor large, const Shape& shape) {
  if (!large.valid() || large.shape() == shape) {
    return large;
  }
  const Shape& from = large.shape();
  const size_t extra = from.rank() - shape.rank();
  Dims axes;
  for (size_t axis = 0; axis < from.rank(); ++axis) {
    if (axis < extra || (shape[axis - extra] == 1 && from[axis] != 1)) {
      axes.push_back(static_cast<int64_t>(axis));
    }
  }
  return reshapedTo(reduceSum(large, axes, extra == 0), shape);
}

} // namespace dfc
