#include "ir/graph/rules/place_in_whole.h"

#include "ir/base/assert.h"
#include "ir/graph/rules/axis_view.h"

#include <fmt/format.h>

#include <cstring>

namespace dfc {

TypeResult AxisPart::check(std::string_view op, int64_t own) const {
  if (whole == 0 && start == 0) {
    return {};
  }
  if (start >= 0 && own > 0 && whole >= own && start <= whole - own) {
    return {};
  }
  return TypeResult::fail(
      fmt::format("{}: {} elements from index {} on are no part of an axis of {}", op, own, start, whole),
      "start is at least 0, a part has elements, and start + length is at most whole; leave both out where "
      "the axis is the whole");
}

void AxisPart::restrictTo(SplitRange range, int64_t own) {
  whole = lengthOf(own);
  start += range.begin;
}

int64_t TensorPart::indexInWhole(const Shape& own, int64_t index) const {
  if (!isPart()) {
    return index;
  }
  int64_t result = 0, stride = 1;
  for (size_t axis = own.rank(); axis-- > 0;) {
    result += (index % own[axis] + starts[axis]) * stride;
    index /= own[axis];
    stride *= whole[axis];
  }
  return result;
}

int64_t TensorPart::contiguous(const Shape& own) const {
  int64_t elements = 1;
  for (size_t axis = own.rank(); axis-- > 0;) {
    elements *= own[axis];
    if (isPart() && own[axis] != whole[axis]) {
      break;
    }
  }
  return elements;
}

TypeResult TensorPart::check(std::string_view op, const Shape& own) const {
  bool fits = starts.size() == whole.size() && (whole.empty() || whole.size() == own.rank());
  for (size_t axis = 0; fits && axis < whole.size(); ++axis) {
    fits = starts[axis] >= 0 && whole[axis] >= own[axis] && starts[axis] <= whole[axis] - own[axis];
  }
  if (fits && Shape::valid(whole)) {
    return {};
  }
  return TypeResult::fail(fmt::format("{}: a tensor of {} from index {} on is no part of one of {}", op,
                                      toString(own), toString(Shape(starts)), toString(Shape(whole))),
                          "on each axis starts is at least 0, and starts + length is at most whole; leave "
                          "both out where the tensor is the whole");
}

Literal TensorPart::valueIn(const Literal& wholeValue, const Shape& own) const {
  Literal value = wholeValue;
  for (size_t axis = 0; axis < whole.size(); ++axis) {
    value = sliced(value, axis, {starts[axis], starts[axis] + own[axis]});
  }
  return value;
}

void TensorPart::restrictTo(size_t axis, SplitRange range, const Shape& own) {
  if (!isPart()) {
    whole.assign(own.dims().begin(), own.dims().end());
    starts.assign(own.rank(), 0);
  }
  starts[axis] += range.begin;
}

Literal sliced(const Literal& whole, size_t axis, SplitRange range) {
  const TensorType& type = whole.type();
  DFC_ASSERT(range.begin >= 0 && range.end <= type.shape[axis], "a range within the axis");
  Dims dims(type.shape.dims().begin(), type.shape.dims().end());
  dims[axis] = range.size();
  Literal part({type.element, Shape(dims)});
  const AxisView view(type.shape, static_cast<int64_t>(axis));
  const int64_t element = view.inner * byteWidth(type.element);
  const auto from = whole.bytes();
  const auto to = part.mutableBytes();
  for (int64_t outer = 0; outer < view.outer && !to.empty(); ++outer) {
    std::memcpy(to.data() + outer * range.size() * element,
                from.data() + (outer * view.length + range.begin) * element,
                static_cast<size_t>(range.size() * element));
  }
  return part;
}

} // namespace dfc
