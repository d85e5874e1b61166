// ONNX's layers: products, convolutions, pools. Pictures of one axis are pictures of
// height 1.
#include "ir/author/dsl.h"
#include "ir/graph/rules/op_rules.h"
#include "tests/onnx/node_call.h"

#include <algorithm>

namespace dfc::test {
namespace {

NodeResults product(NodeCall& call) {
  Tensor a = call.operand(0), b = call.operand(1);
  return {matmul(a, b)};
}

NodeResults general(NodeCall& call) {
  const Tensor a = call.operand(0), b = call.operand(1);
  Tensor result = matmul(a, b, {.a = call.integer("transA", 0) != 0, .b = call.integer("transB", 0) != 0});
  if (const double alpha = call.real("alpha", 1); alpha != 1) {
    result = alpha * result;
  }
  if (call.has(2)) {
    const double beta = call.real("beta", 1);
    result = result + (beta == 1 ? call.operand(2) : beta * call.operand(2));
  }
  return {result};
}

/// The window of a convolution or a pool over pictures of two axes.
struct Windows {
  Dims size, strides, low, high, dilations;
  bool flat = false; ///< the pictures had one axis
};

// Padding so that the result has ceil(length / stride) elements; the odd one goes to the end, or to the
// begin.
void padSame(Windows& w, const Dims& picture, bool lower) {
  for (size_t i = 0; i < 2; ++i) {
    const int64_t out = (picture[i] + w.strides[i] - 1) / w.strides[i];
    const int64_t needed =
        std::max<int64_t>(0, (out - 1) * w.strides[i] + w.dilations[i] * (w.size[i] - 1) + 1 - picture[i]);
    w.low[i] = lower ? (needed + 1) / 2 : needed / 2;
    w.high[i] = needed - w.low[i];
  }
}

// Rounds the number of windows up by padding at the end.
void padCeil(Windows& w, const Dims& picture) {
  for (size_t i = 0; i < 2; ++i) {
    const int64_t reach = w.dilations[i] * (w.size[i] - 1) + 1;
    const int64_t rest = (picture[i] + w.low[i] + w.high[i] - reach) % w.strides[i];
    if (rest != 0) {
      w.high[i] += w.strides[i] - rest;
    }
  }
}

Dims stretchedTo2d(Dims dims, int64_t fill) {
  if (dims.size() == 1) {
    dims.insert(dims.begin(), fill);
  }
  return dims;
}

Windows windowsOf(const NodeCall& call, Dims size, const Dims& picture) {
  if (size.size() > 2) {
    throw OutOfScope("pictures of three axes");
  }
  Windows w;
  w.flat = size.size() == 1;
  const size_t axes = size.size();
  w.size = stretchedTo2d(size, 1);
  w.strides = stretchedTo2d(call.integers("strides", Dims(axes, 1)), 1);
  w.dilations = stretchedTo2d(call.integers("dilations", Dims(axes, 1)), 1);
  const Dims pads = call.integers("pads", Dims(2 * axes, 0));
  w.low = stretchedTo2d(Dims(pads.begin(), pads.begin() + static_cast<int64_t>(axes)), 0);
  w.high = stretchedTo2d(Dims(pads.begin() + static_cast<int64_t>(axes), pads.end()), 0);
  const std::string automatic = call.text("auto_pad", "NOTSET");
  if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
    padSame(w, picture, automatic == "SAME_LOWER");
  }
  if (call.integer("ceil_mode", 0) != 0) {
    padCeil(w, picture);
  }
  return w;
}

// [N, C, L] as [N, C, 1, L].
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
  return dims.size() == 4 ? Dims{dims[2], dims[3]} : Dims{};
}

Window windowOf(const Windows& w) { return {w.strides, w.low, w.high, w.dilations}; }

NodeResults withBias(NodeCall& call, Tensor result, size_t index) {
  if (!call.has(index)) {
    return {result};
  }
  Dims dims(result.shape().rank(), 1);
  dims[1] = call.operand(index).shape()[0];
  return {result + reshape(call.operand(index), dims)};
}

NodeResults convolution(NodeCall& call) {
  const Tensor a = call.operand(0), filter = call.operand(1);
  const Dims size(filter.shape().dims().begin() + 2, filter.shape().dims().end());
  const Windows w = windowsOf(call, size, pictureOf(a));
  const Tensor result = conv2d(as2d(a), as2d(filter), windowOf(w), call.integer("group", 1));
  return withBias(call, as1d(result, w.flat), 2);
}

/// An axis of a transposed convolution: the gradient of a convolution with this padding gives `length`
/// elements, zeros after them continue it.
struct Stretch {
  int64_t length = 0, low = 0, high = 0, after = 0;
};

// `full`: the elements that the windows reach and `extra` zeros behind them. `wanted`: how many are asked
// for; below 0: as many as the padding leaves.
Stretch stretchOf(int64_t full, int64_t extra, int64_t wanted, bool lower, int64_t low, int64_t high) {
  Stretch axis{full - low - high, low, high, 0};
  if (wanted >= 0) {
    const int64_t total = full - wanted;
    axis.length = wanted;
    axis.low = lower ? total - total / 2 : total / 2;
    axis.high = total - axis.low;
  }
  axis.high -= extra; // they lie behind the last window of the convolution that this is the gradient of
  axis.after = std::max<int64_t>(0, -axis.high);
  axis.length -= axis.after;
  axis.high += axis.after;
  return axis;
}

// What a node says of each axis by an attribute.
Dims ofAxes(const NodeCall& call, const char* name, size_t axes, int64_t otherwise) {
  return stretchedTo2d(call.integers(name, Dims(axes, otherwise)), otherwise);
}

// The elements that axis `i` is to have; below 0 where its padding says.
int64_t wantedLength(const NodeCall& call, size_t i, int64_t from, int64_t stride) {
  const Dims asked = stretchedTo2d(call.integers("output_shape"), 1);
  const bool same = call.text("auto_pad", "NOTSET").rfind("SAME", 0) == 0;
  return asked.size() == 2 ? asked[i] : same ? from * stride : -1;
}

NodeResults transposedConvolution(NodeCall& call) {
  const size_t axes = call.operand(0).shape().rank() - 2;
  if (axes > 2) {
    throw OutOfScope("pictures of three axes");
  }
  const Tensor a = as2d(call.operand(0)), filter = as2d(call.operand(1));
  ops::Conv2dInputGradient op;
  op.groups = call.integer("group", 1);
  op.strides = ofAxes(call, "strides", axes, 1);
  op.dilations = ofAxes(call, "dilations", axes, 1);
  op.shape = {a.shape()[0], filter.shape()[1] * op.groups};
  const Dims extra = ofAxes(call, "output_padding", axes, 0), pads = call.integers("pads", Dims(2 * axes, 0));
  const auto half = static_cast<int64_t>(axes);
  const Dims low = stretchedTo2d(Dims(pads.begin(), pads.begin() + half), 0);
  const Dims high = stretchedTo2d(Dims(pads.begin() + half, pads.end()), 0);
  const bool lower = call.text("auto_pad", "NOTSET") == "SAME_LOWER";
  Dims after{0, 0};
  for (size_t i = 0; i < 2; ++i) {
    const int64_t from = a.shape()[2 + i], reach = op.dilations[i] * (filter.shape()[2 + i] - 1) + 1;
    const Stretch axis = stretchOf((from - 1) * op.strides[i] + reach + extra[i], extra[i],
                                   wantedLength(call, i, from, op.strides[i]), lower, low[i], high[i]);
    op.shape.push_back(axis.length);
    op.low.push_back(axis.low);
    op.high.push_back(axis.high);
    after.push_back(axis.after);
  }
  const Tensor made = call.builder().op(op, {filter, a}, std::source_location::current());
  const Tensor result = after[2] + after[3] == 0 ? made : pad(made, Dims(4, 0), after);
  return withBias(call, as1d(result, axes == 1), 2);
}

NodeResults largestOf(NodeCall& call) {
  if (call.wants(1)) {
    throw OutOfScope("the places of the maxima as a result");
  }
  const Tensor a = call.operand(0);
  const Windows w = windowsOf(call, call.integers("kernel_shape"), pictureOf(a));
  return {as1d(maxPool(as2d(a), w.size, windowOf(w)), w.flat)};
}

NodeResults averageOf(NodeCall& call) {
  const Tensor a = call.operand(0);
  const Windows w = windowsOf(call, call.integers("kernel_shape"), pictureOf(a));
  return {as1d(averagePool(as2d(a), w.size, windowOf(w), call.integer("count_include_pad", 0) != 0), w.flat)};
}

Dims innerAxes(Tensor a) {
  Dims axes;
  for (size_t i = 2; i < a.shape().rank(); ++i) {
    axes.push_back(static_cast<int64_t>(i));
  }
  return axes;
}

NodeResults wholeAverage(NodeCall& call) {
  return {reduceMean(call.operand(0), innerAxes(call.operand(0)), true)};
}
NodeResults wholeMax(NodeCall& call) {
  return {reduceMax(call.operand(0), innerAxes(call.operand(0)), true)};
}

} // namespace

MappingTable networkMappings() {
  return {{"AveragePool", averageOf},
          {"Conv", convolution},
          {"ConvTranspose", transposedConvolution},
          {"Gemm", general},
          {"GlobalAveragePool", wholeAverage},
          {"GlobalMaxPool", wholeMax},
          {"MatMul", product},
          {"MaxPool", largestOf}};
}

} // namespace dfc::test
