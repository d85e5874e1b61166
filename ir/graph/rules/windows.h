// Windows that slide over the last two axes of an image [N, C, H, W]: the arithmetic that convolutions and
// pools share, from type rules to kernels. Window `o` of an axis looks at the elements
// o * stride - low + k * dilation, k < size; what lies outside [0, length) is padding (Dumoulin and Visin, A
// guide to convolution arithmetic for deep learning, 2016).
#pragma once

#include "ir/graph/rules/op_rules.h"

namespace dfc {

/// One of the two axes, with attributes that `checkWindows` accepted.
struct WindowAxis {
  int64_t length = 1; ///< of the image
  int64_t count = 1;  ///< of windows: the length of the result
  int64_t size = 1, stride = 1, low = 0, dilation = 1;

  /// The element that window `window` holds at `k`; negative, or `length` or more, for padding.
  int64_t at(int64_t window, int64_t k) const { return window * stride - low + k * dilation; }
  struct Range {
    int64_t begin = 0, end = 0;
  };
  /// The windows whose element at `k` is no padding.
  Range windowsAt(int64_t k) const;
  /// The places k of a window that hold no padding.
  Range placesOf(int64_t window) const;
  friend bool operator==(const WindowAxis&, const WindowAxis&) = default;
};

struct Windows {
  WindowAxis rows, columns;
  int64_t size() const { return rows.size * columns.size; } ///< elements of a window
  friend bool operator==(const Windows&, const Windows&) = default;
};

/// Whether the one window of each plane is the plane: then a pool is a reduction of it.
bool isWholePlane(const Windows& windows);

/// Attributes as an author wrote them: two numbers each, or none for 1 (strides, dilations) and 0 (padding).
struct WindowAttributes {
  Dims size, strides, low, high, dilations;
};

/// Those of a pool or of its gradient.
template <class Op>
WindowAttributes windowAttributes(const Op& op) {
  Dims dilations;
  if constexpr (requires { op.dilations; }) {
    dilations = op.dilations;
  }
  return {op.window, op.strides, op.low, op.high, std::move(dilations)};
}

/// The op `To` with the attributes of the pool `from`; `shape` stays empty.
template <class To, class From>
To samePool(const From& from) {
  To op;
  op.window = from.window;
  op.strides = from.strides;
  op.low = from.low;
  op.high = from.high;
  op.layout = from.layout;
  if constexpr (requires { op.dilations; }) {
    op.dilations = from.dilations;
  }
  if constexpr (requires { op.countPadding; }) {
    op.countPadding = from.countPadding;
  }
  return op;
}

/// Ok (without types), or why no window of these attributes slides over `image` [N, C, H, W], naming the
/// axis. No number in them may exceed 2^30, so that no sum of products overflows.
TypeResult checkWindows(OpKind kind, OperandTypes operands, const Shape& image,
                        const WindowAttributes& attributes);
/// Ok (without types) when no window holds padding only. A dilation beyond the length of an axis that has
/// padding is refused along with those: its windows may step over the whole axis.
TypeResult checkNoPaddingOnly(OpKind kind, OperandTypes operands, const Windows& windows);
/// Of what checkWindows accepted.
Windows windowsOf(const Shape& image, const WindowAttributes& attributes);

/// The type rule of pools: [N, C, windows of H, windows of W] of the element type of operand 0.
/// `paddingOnly`: a window may hold nothing else.
TypeResult poolTypes(OpKind kind, OperandTypes operands, const Shape& image,
                     const WindowAttributes& attributes, bool paddingOnly);
/// Ok (without types) when `shape`, an attribute, is that of an image: four dimensions of a tensor.
TypeResult checkImageShape(OpKind kind, OperandTypes operands, llvm::ArrayRef<int64_t> shape);

} // namespace dfc
