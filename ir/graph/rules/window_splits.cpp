#include "ir/graph/rules/window_splits.h"

#include <algorithm>

namespace dfc {
namespace {

const WindowAxis& windowAxis(const Windows& windows, size_t axis) {
  return axis == 2 ? windows.rows : windows.columns;
}

int64_t spanOf(const WindowAxis& window) { return (window.size - 1) * window.dilation + 1; }

// The index among the two axes of windows; none for batch and channels.
std::optional<size_t> windowIndex(const SplitAxis& at, ImageLayout layout) {
  for (const size_t axis : {2U, 3U}) {
    if (at.cut() && at.axis == imageAxis(layout, axis)) {
      return axis - 2;
    }
  }
  return std::nullopt;
}

void setPadding(Dims& dims, size_t index, int64_t value) {
  dims.resize(2);
  dims[index] = value;
}

} // namespace

SplitAxis elementsOfWindows(const TensorType& image, ImageLayout layout, const Windows& windows,
                            size_t axis) {
  const WindowAxis& window = windowAxis(windows, axis);
  const size_t at = imageAxis(layout, axis);
  return {SplitAxis::Form::Forward, at, image.shape[at], window.stride, spanOf(window), window.low};
}

SplitAxis windowsOfElements(const TensorType& result, ImageLayout layout, const Windows& windows,
                            size_t axis) {
  SplitAxis along = elementsOfWindows(result, layout, windows, axis);
  along.form = SplitAxis::Form::Backward;
  return along;
}

bool windowsCover(const Windows& windows, size_t axis) {
  const WindowAxis& window = windowAxis(windows, axis);
  return window.stride <= spanOf(window) &&
         (window.count - 1) * window.stride - window.low + spanOf(window) >= window.length;
}

SplitRule poolSplit(OperandTypes operands, OperandTypes results, ImageLayout layout, const Windows& windows) {
  SplitRule rule = sameAxesSplit(operands, results, {imageAxis(layout, 0), imageAxis(layout, 1)});
  for (const size_t axis : {2U, 3U}) {
    SplitFactor factor(SplitKind::Window, windowAxis(windows, axis).count, operands.size(), 1);
    factor.operands[0] = elementsOfWindows(operands[0], layout, windows, axis);
    factor.results[0] = alongAxis(results[0], imageAxis(layout, axis));
    rule.add(std::move(factor));
  }
  return rule;
}

void restrictWindows(const SplitPart& part, const SplitAxis& image, ImageLayout layout, Dims& low,
                     Dims& high) {
  const auto index = windowIndex(image, layout);
  if (!index) {
    return;
  }
  const int64_t total = (part.range.size() - 1) * image.stride + image.span;
  const int64_t first = part.range.begin * image.stride - image.low;
  const int64_t before = std::clamp<int64_t>(-first, 0, total);
  setPadding(low, *index, before);
  setPadding(high, *index, total - before - image.elements(part.range).size());
}

void restrictElements(const SplitPart& part, const SplitAxis& result, ImageLayout layout, Dims& low,
                      Dims& high) {
  const auto index = windowIndex(result, layout);
  if (!index) {
    return;
  }
  const SplitRange windows = result.elements(part.range);
  const int64_t before = part.range.begin + result.low - windows.begin * result.stride;
  setPadding(low, *index, before);
  setPadding(
      high, *index,
      std::max<int64_t>(0, (windows.size() - 1) * result.stride + result.span - before - part.range.size()));
}

} // namespace dfc
