// Split rules of windows over images, and the padding of a part: a part of the windows reads its elements and
// the neighbours' (halos), and pads at the ends of the whole only.
#pragma once

#include "ir/graph/rules/layout.h"
#include "ir/graph/rules/windows.h"

namespace dfc {

/// Where the axes N, C, H, W of an image (or of a filter) are.
inline size_t imageAxis(ImageLayout layout, size_t axis) {
  return layout != ImageLayout::Nchw ? std::array<size_t, 4>{0, 3, 1, 2}[axis] : axis;
}
/// The same of a filter [M, C / groups, KH, KW].
inline size_t filterAxis(ImageLayout layout, size_t axis) {
  return layout == ImageLayout::Nhwc ? imageAxis(layout, axis) : axis;
}

/// The elements of `image` that windows look at; position: a window. `axis` is 2 (rows) or 3 (columns).
SplitAxis elementsOfWindows(const TensorType& image, ImageLayout layout, const Windows& windows, size_t axis);
/// The windows, along an axis of `result`, that look at elements; position: an element.
SplitAxis windowsOfElements(const TensorType& result, ImageLayout layout, const Windows& windows,
                            size_t axis);
/// Whether each element of the axis lies in a window, so that every part of the elements has some.
bool windowsCover(const Windows& windows, size_t axis);

/// Pools: batch and channels free, windows by their elements, (abCD)->(abcd).
SplitRule poolSplit(OperandTypes operands, OperandTypes results, ImageLayout layout, const Windows& windows);

/// `low` and `high` of the part where the factor cuts the windows of `image`, a tensor of the call.
void restrictWindows(const SplitPart& part, const SplitAxis& image, ImageLayout layout, Dims& low,
                     Dims& high);
/// The same where it cuts the elements, and `result` has the windows.
void restrictElements(const SplitPart& part, const SplitAxis& result, ImageLayout layout, Dims& low,
                      Dims& high);

} // namespace dfc
