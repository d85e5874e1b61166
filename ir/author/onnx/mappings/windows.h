// What convolutions and pools share: windows over pictures of one, two or three axes. Pictures of one axis
// are pictures of height 1; those of three are computed as pictures of two, one for each place on the first
// axis.
#pragma once

#include "ir/author/dsl.h"
#include "ir/author/onnx/node_call.h"

namespace dfc::onnx {

/// The window of a convolution or a pool over pictures of two or three axes.
struct Windows {
  Dims size, strides, low, high, dilations;
  Dims counted;      ///< of `high` what the node itself asks for; ceil_mode may need more
  bool flat = false; ///< the pictures had one axis
};

/// Refuses pictures so long that strides by them overflow.
void refuseLong(const NodeCall& call, const Dims& picture);

/// Reads the attributes of a node for windows of `size` over pictures of these lengths (of `pictureOf`).
Windows windowsOf(const NodeCall& call, const Dims& size, const Dims& picture);

/// What a node says of one axis, as of the second of two.
Dims stretchedTo2d(Dims dims, int64_t fill);
std::string automaticPadding(const NodeCall& call);
/// What a node says of each axis by an attribute, or of each twice: at its begin and at its end.
Dims perAxis(const NodeCall& call, const char* name, size_t numbers, int64_t otherwise);
/// `given`; refuses numbers that windows cannot be computed with, as they divide by 0 or overflow.
Dims within(const NodeCall& call, const char* name, const Dims& given, int64_t least);

Tensor as2d(Tensor a);            ///< [N, C, L] as [N, C, 1, L]
Tensor as1d(Tensor a, bool flat); ///< and back
Dims pictureOf(Tensor a);         ///< the lengths of its axes; two at least
Window windowOf(const Windows& w);

/// Plus a number for each channel, where operand `index` is given.
NodeResults withBias(NodeCall& call, Tensor result, size_t index);

/// The convolution over pictures of two or three axes; spends what it unrolls.
Tensor convolved(const NodeCall& call, Tensor a, Tensor filter, const Windows& w, int64_t groups);

/// The least value of an element type, which padding is where the largest of a window is wanted.
double leastOf(ElementType element);

/// Where the first largest element of each window stands among all elements of `a` (of `as2d`), i64, rows
/// before columns or (storage_order = 1) columns before rows.
Tensor placesOfLargest(NodeCall& call, Tensor a, const Windows& w);

/// Pictures of three axes as those of two, and what windows see along the first axis.
class Depth {
 public:
  /// `a`: [N, C, D, H, W], padded along D with `fill` as the windows want it.
  Depth(const NodeCall& call, Tensor a, const Windows& w, double fill);
  int64_t places() const { return window_; } ///< of a window along D
  Tensor at(int64_t place) const;            ///< what stands there of all windows, [N * D', C, H, W]
  Tensor whole(Tensor made) const;           ///< [N * D', C', H', W'] as [N, C', D', H', W']
  Window rest() const { return rest_; }      ///< the window over H and W

 private:
  Tensor a_; // [N, D, C, H, W]
  int64_t window_, stride_, dilation_, made_;
  Window rest_;
};

} // namespace dfc::onnx
