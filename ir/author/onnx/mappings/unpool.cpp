// Where the maxima of ONNX's MaxPool stand, and MaxUnpool, which puts elements back there.
#include "ir/author/onnx/mappings/windows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace dfc::onnx {
namespace {

int64_t product(const Dims& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

// How far apart, among the elements of one picture, neighbours along each axis are.
Dims stridesOf(const Dims& picture, bool columnsFirst) {
  Dims strides(picture.size());
  int64_t stride = 1;
  for (size_t i = 0; i < picture.size(); ++i) {
    const size_t axis = columnsFirst ? i : picture.size() - 1 - i;
    strides[axis] = stride;
    stride *= picture[axis];
  }
  return strides;
}

// Each element of one picture [1, 1, …] is its own place.
Tensor placesWithin(NodeCall& call, const Dims& picture, bool columnsFirst) {
  const Dims strides = stridesOf(picture, columnsFirst);
  Tensor places = call.builder().scalar(ElementType::I64, 0);
  for (size_t i = 0; i < picture.size(); ++i) {
    Dims line(picture.size() + 2, 1);
    line[2 + i] = picture[i];
    const Tensor index = iota(call.builder(), i64(Shape(line)), static_cast<int64_t>(2 + i));
    places = places + index * static_cast<double>(strides[i]);
  }
  return places;
}

// How many windows lie along each axis of the padded picture.
Dims windowsAlong(const NodeCall& call, const Windows& w, const Dims& picture) {
  Dims made;
  for (size_t i = 0; i < picture.size(); ++i) {
    const int64_t reach = w.dilations[i] * (w.size[i] - 1) + 1, length = picture[i] + w.low[i] + w.high[i];
    if (length < reach) {
      call.refuse(fmt::format("a window that reaches over {} of {} elements", reach, length));
    }
    made.push_back((length - reach) / w.strides[i] + 1);
  }
  return made;
}

/// Elements of all windows of a padded picture.
struct Taps {
  const Windows& w;
  Dims made; ///< windows along each axis
  // What stands at place `number` of the windows; places count with the last axis first.
  Tensor at(Tensor padded, int64_t number) const {
    Dims starts(padded.shape().rank(), 0), ends = dimsOf(padded), strides(ends.size(), 1);
    for (size_t i = made.size(); i-- > 0; number /= w.size[i]) {
      starts[2 + i] = number % w.size[i] * w.dilations[i];
      ends[2 + i] = starts[2 + i] + (made[i] - 1) * w.strides[i] + 1;
      strides[2 + i] = w.strides[i];
    }
    return slice(padded, starts, ends, strides);
  }
};

Tensor padded(Tensor a, const Windows& w, double value) {
  Dims low{0, 0}, high{0, 0};
  low.insert(low.end(), w.low.begin(), w.low.end());
  high.insert(high.end(), w.high.begin(), w.high.end());
  const Dims none(low.size(), 0);
  return low == none && high == none ? a : pad(a, low, high, {}, value);
}

// The lengths that the unpooled picture has where the node does not say: as the pool's windows reach.
Dims unpooledDims(const NodeCall& call, Tensor a) {
  const size_t axes = a.shape().rank() - 2;
  const Dims size = within(call, "kernel_shape", perAxis(call, "kernel_shape", axes, 1), 1);
  const Dims strides = within(call, "strides", perAxis(call, "strides", axes, 1), 1);
  const Dims pads = within(call, "pads", perAxis(call, "pads", 2 * axes, 0), 0);
  Dims dims = dimsOf(a);
  refuseLong(call, Dims(dims.begin() + 2, dims.end()));
  for (size_t i = 0; i < axes; ++i) {
    dims[2 + i] = (dims[2 + i] - 1) * strides[i] + size[i] - pads[i] - pads[axes + i];
  }
  if (!Shape::valid(dims)) {
    call.refuse(fmt::format("pads = [{}]", fmt::join(pads, ", ")));
  }
  return dims;
}

// Zeros behind the elements of each axis, or fewer elements.
Tensor resizedTo(const NodeCall& call, Tensor a, const Dims& wanted) {
  const Dims from = dimsOf(a);
  if (wanted.size() != from.size() || wanted[0] != from[0] || wanted[1] != from[1] || !Shape::valid(wanted)) {
    call.refuse(fmt::format("output_shape [{}] for {}", fmt::join(wanted, ", "), toString(a.shape())));
  }
  Dims behind(from.size(), 0), zero = behind;
  for (size_t i = 0; i < from.size(); ++i) {
    behind[i] = std::max<int64_t>(0, wanted[i] - from[i]);
  }
  return slice(pad(a, zero, behind), zero, wanted);
}

// The indices are those of the picture as the pool's windows reach; a given output_shape continues it with
// zeros. Where windows overlap, a place may be named by several elements, which are the same one.
NodeResults unpooled(NodeCall& call) {
  const Tensor a = call.operandOfRank(0, 3);
  const Dims dims = unpooledDims(call, a);
  const Tensor places = reshape(call.operand(1), {-1}), values = reshape(a, {-1});
  const Tensor nothing = broadcast(call.scalar(a, 0), {product(dims)});
  const Tensor sum = scatterAdd(nothing, places, values);
  const Tensor hits = scatterAdd(nothing, places, broadcast(call.scalar(a, 1), dimsOf(values)));
  const Tensor result = reshape(sum / max(hits, 1), dims);
  return {call.has(2) ? resizedTo(call, result, call.dims(2)) : result};
}

} // namespace

double leastOf(ElementType element) {
  switch (element) {
  case ElementType::I32: return -2147483648.0;
  case ElementType::I64: return -9223372036854775808.0;
  case ElementType::U8:
  case ElementType::Bool: return 0;
  case ElementType::F32:
  case ElementType::F64:
  case ElementType::F16:
  case ElementType::BF16: break;
  }
  return -std::numeric_limits<double>::infinity();
}

// The index of each window's maximum, by a running maximum over the window's positions: an element replaces
// it if it is larger, or if the maximum so far is padding, whose index is -1.
Tensor placesOfLargest(NodeCall& call, Tensor a, const Windows& w) {
  const Dims picture = pictureOf(a);
  const Taps taps{w, windowsAlong(call, w, picture)};
  int64_t count = 1;
  for (const int64_t size : w.size) {
    count *= size;
    call.spend(16 * count); // ops of a place, about
  }
  const Tensor values = padded(a, w, leastOf(a.type().element));
  const Tensor places = padded(placesWithin(call, picture, call.integer("storage_order", 0) != 0), w, -1);
  Tensor best = taps.at(values, 0), place = taps.at(places, 0);
  for (int64_t i = 1; i < count; ++i) {
    const Tensor value = taps.at(values, i);
    const Tensor isLarger = compare(value, best, Direction::Gt) | compare(place, 0, Direction::Lt);
    place = select(isLarger, taps.at(places, i), place);
    best = select(isLarger, value, best);
  }
  const Dims front{a.shape()[0], a.shape()[1], 1, 1};
  const Tensor plane = reshape(iota(call.builder(), i64({front[0] * front[1]})),
                               picture.size() == 3 ? Dims{front[0], front[1], 1, 1, 1} : front);
  return place + plane * static_cast<double>(product(picture));
}

MappingTable unpoolMappings() { return {{"MaxUnpool", unpooled}}; }

} // namespace dfc::onnx
