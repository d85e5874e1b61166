#include "ir/author/onnx/mappings/windows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace dfc::onnx {
namespace {

constexpr int64_t most = int64_t{1} << 30; // of whatever is multiplied with a stride or a place

// Padding so that the result has ceil(length / stride) elements; the odd one goes to the end, or to the
// begin.
void padSame(Windows& w, const Dims& picture, bool lower) {
  for (size_t i = 0; i < picture.size(); ++i) {
    const int64_t out = (picture[i] + w.strides[i] - 1) / w.strides[i];
    const int64_t needed =
        std::max<int64_t>(0, (out - 1) * w.strides[i] + w.dilations[i] * (w.size[i] - 1) + 1 - picture[i]);
    w.low[i] = lower ? (needed + 1) / 2 : needed / 2;
    w.high[i] = needed - w.low[i];
  }
}

// Rounds the number of windows up by padding at the end, but for a window that starts behind the elements.
void padCeil(Windows& w, const Dims& picture) {
  for (size_t i = 0; i < picture.size(); ++i) {
    const int64_t reach = w.dilations[i] * (w.size[i] - 1) + 1, stride = w.strides[i];
    int64_t last = (picture[i] + w.low[i] + w.high[i] - reach + stride - 1) / stride * stride;
    last -= last >= picture[i] + w.low[i] ? stride : 0;
    w.high[i] = std::max<int64_t>(0, last + reach - picture[i] - w.low[i]);
  }
}

} // namespace

Dims stretchedTo2d(Dims dims, int64_t fill) {
  if (dims.size() == 1) {
    dims.insert(dims.begin(), fill);
  }
  return dims;
}

std::string automaticPadding(const NodeCall& call) {
  return call.choice("auto_pad", {"NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"});
}

Dims perAxis(const NodeCall& call, const char* name, size_t numbers, int64_t otherwise) {
  Dims given = call.integers(name, Dims(numbers, otherwise));
  if (given.size() != numbers) {
    call.refuse(fmt::format("{} numbers in '{}' instead of {}", given.size(), name, numbers));
  }
  return given;
}

Dims within(const NodeCall& call, const char* name, const Dims& given, int64_t least) {
  for (const int64_t number : given) {
    if (number < least || number > most) {
      call.refuse(fmt::format("{} = [{}]; each is from {} to {}", name, fmt::join(given, ", "), least, most));
    }
  }
  return given;
}

void refuseLong(const NodeCall& call, const Dims& picture) {
  if (std::any_of(picture.begin(), picture.end(), [](int64_t length) { return length > most; })) {
    call.refuse(fmt::format("pictures of [{}]; an axis has at most {}", fmt::join(picture, ", "), most));
  }
}

Windows windowsOf(const NodeCall& call, const Dims& size, const Dims& picture) {
  if (size.size() > 3) {
    throw Unsupported("pictures of more than three axes");
  }
  if (size.size() + 2 != call.operand(0).shape().rank()) {
    call.refuse(fmt::format("windows of {} axes over rank {}", size.size(), call.operand(0).shape().rank()));
  }
  Windows w;
  w.flat = size.size() == 1;
  const size_t axes = size.size();
  w.size = stretchedTo2d(size, 1);
  w.strides = stretchedTo2d(within(call, "strides", perAxis(call, "strides", axes, 1), 1), 1);
  w.dilations = stretchedTo2d(within(call, "dilations", perAxis(call, "dilations", axes, 1), 1), 1);
  within(call, "kernel_shape", size, 1);
  const Dims pads = within(call, "pads", perAxis(call, "pads", 2 * axes, 0), 0);
  w.low = stretchedTo2d(Dims(pads.begin(), pads.begin() + static_cast<int64_t>(axes)), 0);
  w.high = stretchedTo2d(Dims(pads.begin() + static_cast<int64_t>(axes), pads.end()), 0);
  const std::string automatic = automaticPadding(call);
  if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
    padSame(w, picture, automatic == "SAME_LOWER");
  } else if (automatic == "VALID") {
    w.low = w.high = Dims(w.size.size(), 0);
  }
  w.counted = w.high;
  if (call.integer("ceil_mode", 0) != 0) {
    padCeil(w, picture);
  }
  return w;
}

Tensor as2d(Tensor a) {
  Dims dims = dimsOf(a);
  if (dims.size() == 3) {
    dims.insert(dims.begin() + 2, 1);
    return reshape(a, dims);
  }
  return a;
}

Tensor as1d(Tensor a, bool flat) {
  const Dims d = dimsOf(a);
  return flat ? reshape(a, {d[0], d[1], d[3]}) : a;
}

Dims pictureOf(Tensor a) {
  const Dims dims = dimsOf(as2d(a));
  return dims.size() > 2 ? Dims(dims.begin() + 2, dims.end()) : Dims{};
}

Window windowOf(const Windows& w) { return {w.strides, w.low, w.high, w.dilations}; }

NodeResults withBias(NodeCall& call, Tensor result, size_t index) {
  if (!call.has(index)) {
    return {result};
  }
  Dims dims(result.shape().rank(), 1);
  dims[1] = call.operandOfRank(index, 1).shape()[0];
  return {result + reshape(call.operand(index), dims)};
}

Tensor convolved(const NodeCall& call, Tensor a, Tensor filter, const Windows& w, int64_t groups) {
  if (w.size.size() == 2) {
    return conv2d(a, filter, windowOf(w), groups);
  }
  const Depth depth(call, a, w, 0);
  const Dims f = dimsOf(filter);
  Tensor sum;
  for (int64_t k = 0; k < depth.places(); ++k) {
    const Tensor slab = slice(filter, {0, 0, k, 0, 0}, {f[0], f[1], k + 1, f[3], f[4]});
    const Tensor part = conv2d(depth.at(k), reshape(slab, {f[0], f[1], f[3], f[4]}), depth.rest(), groups);
    sum = sum.valid() ? sum + part : part;
  }
  return depth.whole(sum);
}

Depth::Depth(const NodeCall& call, Tensor a, const Windows& w, double fill)
    : window_(w.size[0]), stride_(w.strides[0]), dilation_(w.dilations[0]) {
  const int64_t reach = dilation_ * (window_ - 1) + 1, length = a.shape()[2] + w.low[0] + w.high[0];
  if (length < reach) {
    call.refuse(fmt::format("a window that reaches over {} of {} elements", reach, length));
  }
  call.spend(16 * window_); // ops of a place, about
  made_ = (length - reach) / stride_ + 1;
  a_ = transpose(a, {0, 2, 1, 3, 4});
  if (w.low[0] + w.high[0] > 0) {
    a_ = pad(a_, {0, w.low[0], 0, 0, 0}, {0, w.high[0], 0, 0, 0}, {}, fill);
  }
  rest_ = {{w.strides[1], w.strides[2]},
           {w.low[1], w.low[2]},
           {w.high[1], w.high[2]},
           {w.dilations[1], w.dilations[2]}};
}

Tensor Depth::at(int64_t place) const {
  const Dims d = dimsOf(a_);
  const int64_t begin = place * dilation_;
  const Tensor taken =
      slice(a_, {0, begin, 0, 0, 0}, {d[0], begin + (made_ - 1) * stride_ + 1, d[2], d[3], d[4]},
            {1, stride_, 1, 1, 1});
  return reshape(taken, {d[0] * made_, d[2], d[3], d[4]});
}

Tensor Depth::whole(Tensor made) const {
  const Dims d = dimsOf(made);
  return transpose(reshape(made, {a_.shape()[0], made_, d[1], d[2], d[3]}), {0, 2, 1, 3, 4});
}

} // namespace dfc::onnx
