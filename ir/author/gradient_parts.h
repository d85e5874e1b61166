// Shape work that gradient rules, decompositions and passes share. All append ops with the builder's present
// scope, pin and place, and append none where the shape is right already.
#pragma once

#include "ir/author/builder.h"

#include <llvm/ADT/ArrayRef.h>

namespace dfc {

/// The same elements under `shape`.
Tensor reshapedTo(Tensor tensor, const Shape& shape);
/// A tensor from which `axes` of `full` were reduced (with or without keepDims), with 1 in their place: it
/// broadcasts to `full`.
Tensor withAxesKept(Tensor reduced, const Shape& full, llvm::ArrayRef<int64_t> axes);
/// The same, repeated along the reduced axes: a tensor of shape `full`.
Tensor stretched(Tensor reduced, const Shape& full, llvm::ArrayRef<int64_t> axes);
/// Zeros of this type: a scalar, broadcast where the type has axes.
Tensor zerosOf(Builder& builder, const TensorType& type);
/// f16 and bf16 as f32, anything else as it is; and back to `element`.
Tensor widened(Tensor tensor);
Tensor narrowed(Tensor tensor, ElementType element);
/// The adjoint of broadcasting: `large` summed over the axes along which `shape` was stretched.
Tensor summedTo(Tensor large, const Shape& shape);

} // namespace dfc
