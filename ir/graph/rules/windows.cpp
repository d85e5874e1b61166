#include "ir/graph/rules/windows.h"

#include "ir/base/assert.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace dfc {
namespace {

constexpr int64_t largestNumber = int64_t{1} << 30;
constexpr std::array<std::string_view, 2> axisNames = {"axis 2 (rows)", "axis 3 (columns)"};

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; } // a >= 0

int64_t numberOr(llvm::ArrayRef<int64_t> numbers, size_t axis, int64_t otherwise) {
  return numbers.empty() ? otherwise : numbers[axis];
}

/// The reach of a window's elements: 1 for a single one.
int64_t spanOf(int64_t size, int64_t dilation) { return (size - 1) * dilation + 1; }

/// Two numbers, or none where that is allowed, from `least` to the largest.
TypeResult checkNumbers(OpKind kind, OperandTypes operands, std::string_view what,
                        llvm::ArrayRef<int64_t> numbers, int64_t least, bool optional) {
  if (numbers.size() != 2 && !(optional && numbers.empty())) {
    return refuse(kind, operands, fmt::format("{} has {} numbers", what, numbers.size()),
                  fmt::format("give two, for rows and for columns{}", optional ? ", or none" : ""));
  }
  for (size_t axis = 0; axis < numbers.size(); ++axis) {
    if (numbers[axis] < least || numbers[axis] > largestNumber) {
      return refuse(kind, operands, fmt::format("{} is {} for {}", what, numbers[axis], axisNames[axis]),
                    fmt::format("give a number from {} to 2^30", least));
    }
  }
  return {};
}

WindowAxis axisOf(int64_t length, const WindowAttributes& attributes, size_t axis) {
  WindowAxis made;
  made.length = length;
  made.size = attributes.size[axis];
  made.stride = numberOr(attributes.strides, axis, 1);
  made.low = numberOr(attributes.low, axis, 0);
  made.dilation = numberOr(attributes.dilations, axis, 1);
  const int64_t padded = length + made.low + numberOr(attributes.high, axis, 0);
  made.count = (padded - spanOf(made.size, made.dilation)) / made.stride + 1;
  return made;
}

TypeResult checkFits(OpKind kind, OperandTypes operands, const Shape& image,
                     const WindowAttributes& attributes) {
  for (size_t axis = 0; axis < 2; ++axis) {
    const int64_t padded =
        image[axis + 2] + numberOr(attributes.low, axis, 0) + numberOr(attributes.high, axis, 0);
    const int64_t span = spanOf(attributes.size[axis], numberOr(attributes.dilations, axis, 1));
    if (span > padded) {
      return refuse(kind, operands,
                    fmt::format("a window spans {} elements of {}, which has {} with its padding", span,
                                axisNames[axis], padded),
                    "pad more (low, high), or make the window or its dilation smaller");
    }
  }
  return {};
}

/// The first window, counted from 0, whose elements are all padding; -1 when there is none. Exact but for
/// dilations beyond the length.
int64_t emptyWindow(const WindowAxis& axis) {
  if (axis.low > 0 && ceilDiv(axis.low, axis.dilation) >= axis.size) {
    return 0;
  }
  if (axis.at(axis.count - 1, 0) >= axis.length) {
    return axis.count - 1;
  }
  return -1;
}

} // namespace

WindowAxis::Range WindowAxis::windowsAt(int64_t k) const {
  const int64_t first = low - k * dilation; // window * stride is in [first, first + length)
  const int64_t end = first + length;
  Range range;
  range.begin = first <= 0 ? 0 : std::min(count, ceilDiv(first, stride));
  range.end = end <= 0 ? 0 : std::min(count, ceilDiv(end, stride));
  range.end = std::max(range.begin, range.end);
  return range;
}

WindowAxis::Range WindowAxis::placesOf(int64_t window) const {
  const int64_t start = at(window, 0);
  Range range;
  range.begin = start >= 0 ? 0 : std::min(size, ceilDiv(-start, dilation));
  range.end = start >= length ? 0 : std::min(size, ceilDiv(length - start, dilation));
  range.end = std::max(range.begin, range.end);
  return range;
}

bool isWholePlane(const Windows& windows) {
  const auto whole = [](const WindowAxis& axis) {
    return axis.count == 1 && axis.low == 0 && axis.size == axis.length && axis.dilation == 1;
  };
  return whole(windows.rows) && whole(windows.columns);
}

TypeResult checkWindows(OpKind kind, OperandTypes operands, const Shape& image,
                        const WindowAttributes& attributes) {
  if (image.rank() != 4) {
    return refuse(kind, operands, fmt::format("{} slides over [N, C, H, W], four axes", nameOf(kind)),
                  "reshape the image; one without a batch or channels has 1 of them");
  }
  struct Numbers {
    std::string_view name;
    llvm::ArrayRef<int64_t> given;
    int64_t least;
    bool optional;
  };
  const Numbers all[] = {{"the window's size", attributes.size, 1, false},
                         {"strides", attributes.strides, 1, true},
                         {"low", attributes.low, 0, true},
                         {"high", attributes.high, 0, true},
                         {"dilations", attributes.dilations, 1, true}};
  for (const Numbers& numbers : all) {
    TypeResult checked =
        checkNumbers(kind, operands, numbers.name, numbers.given, numbers.least, numbers.optional);
    if (!checked.ok()) {
      return checked;
    }
  }
  return checkFits(kind, operands, image, attributes);
}

TypeResult checkNoPaddingOnly(OpKind kind, OperandTypes operands, const Windows& windows) {
  for (size_t i = 0; i < 2; ++i) {
    const WindowAxis& axis = i == 0 ? windows.rows : windows.columns;
    if (axis.size > 1 && axis.dilation > axis.length) {
      return refuse(kind, operands,
                    fmt::format("a dilation of {} steps over {}, which has {} elements", axis.dilation,
                                axisNames[i], axis.length),
                    "give a dilation of the axis's length at most");
    }
    if (const int64_t window = emptyWindow(axis); window >= 0) {
      return refuse(kind, operands, fmt::format("window {} of {} holds padding only", window, axisNames[i]),
                    "pad by less than the window spans, or pad with `pad` and a value of your choice");
    }
  }
  return {};
}

Windows windowsOf(const Shape& image, const WindowAttributes& attributes) {
  return {axisOf(image[2], attributes, 0), axisOf(image[3], attributes, 1)};
}

TypeResult poolTypes(OpKind kind, OperandTypes operands, const Shape& image,
                     const WindowAttributes& attributes, bool paddingOnly) {
  if (TypeResult checked = checkWindows(kind, operands, image, attributes); !checked.ok()) {
    return checked;
  }
  const Windows windows = windowsOf(image, attributes);
  if (TypeResult checked = checkNoPaddingOnly(kind, operands, windows); !paddingOnly && !checked.ok()) {
    return checked;
  }
  return resultOf(kind, operands, operands[0].element,
                  {image[0], image[1], windows.rows.count, windows.columns.count});
}

TypeResult checkImageShape(OpKind kind, OperandTypes operands, llvm::ArrayRef<int64_t> shape) {
  if (shape.size() == 4 && Shape::valid(shape)) {
    return {};
  }
  return refuse(
      kind, operands,
      fmt::format("shape=[{}] is no shape of four axes", fmt::join(shape.begin(), shape.end(), ", ")),
      "give that of the operand whose gradient this is");
}

} // namespace dfc
