// ONNX's layers: products, convolutions, pools. Pictures of one axis are pictures of
// height 1.
#include "ir/author/dsl.h"
#include "ir/author/onnx/node_call.h"
#include "ir/graph/graph.h"
#include "ir/graph/rules/op_rules.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc::onnx {
namespace {

// A vector on the left is a row, one on the right a column, whose axis the result does not have.
NodeResults product(NodeCall& call) {
  const Tensor a = call.operand(0), b = call.operand(1);
  const bool row = a.shape().rank() == 1, column = b.shape().rank() == 1;
  const Tensor result = matmul(row ? reshape(a, {1, -1}) : a, column ? reshape(b, {-1, 1}) : b);
  if (!row && !column) {
    return {result};
  }
  Dims dims = dimsOf(result);
  dims.resize(dims.size() - (column ? 1 : 0));
  if (row) {
    dims.erase(dims.end() - (column ? 1 : 2));
  }
  return {reshape(result, dims)};
}

NodeResults general(NodeCall& call) {
  call.ignore("beta"); // of operand 2, which may be left out
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
  Dims counted;      ///< of `high` what the node itself asks for; ceil_mode may need more
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

// Rounds the number of windows up by padding at the end, but for a window that starts behind the elements.
void padCeil(Windows& w, const Dims& picture) {
  for (size_t i = 0; i < 2; ++i) {
    const int64_t reach = w.dilations[i] * (w.size[i] - 1) + 1, stride = w.strides[i];
    int64_t last = (picture[i] + w.low[i] + w.high[i] - reach + stride - 1) / stride * stride;
    last -= last >= picture[i] + w.low[i] ? stride : 0;
    w.high[i] = std::max<int64_t>(0, last + reach - picture[i] - w.low[i]);
  }
}

Dims stretchedTo2d(Dims dims, int64_t fill) {
  if (dims.size() == 1) {
    dims.insert(dims.begin(), fill);
  }
  return dims;
}

std::string automaticPadding(const NodeCall& call) {
  return call.choice("auto_pad", {"NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"});
}

// What a node says of each axis by an attribute, or of each twice: at its begin and at its end.
Dims perAxis(const NodeCall& call, const char* name, size_t numbers, int64_t otherwise) {
  Dims given = call.integers(name, Dims(numbers, otherwise));
  if (given.size() != numbers) {
    call.refuse(fmt::format("{} numbers in '{}' instead of {}", given.size(), name, numbers));
  }
  return given;
}

// Numbers that windows are computed with, which neither divide by 0 nor overflow.
Dims within(const NodeCall& call, const char* name, const Dims& given, int64_t least) {
  constexpr int64_t most = int64_t{1} << 30;
  for (const int64_t number : given) {
    if (number < least || number > most) {
      call.refuse(fmt::format("{} = [{}]; each is from {} to {}", name, fmt::join(given, ", "), least, most));
    }
  }
  return given;
}

Windows windowsOf(const NodeCall& call, const Dims& size, const Dims& picture) {
  if (size.size() > 2) {
    throw Unsupported("pictures of three axes");
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
    w.low = w.high = {0, 0};
  }
  w.counted = w.high;
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
  dims[1] = call.operandOfRank(index, 1).shape()[0];
  return {result + reshape(call.operand(index), dims)};
}

NodeResults convolution(NodeCall& call) {
  const Tensor a = call.operandOfRank(0, 3), filter = call.operandOfRank(1, 3);
  const Dims size(filter.shape().dims().begin() + 2, filter.shape().dims().end());
  call.only("kernel_shape", size);
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

Dims ofAxes(const NodeCall& call, const char* name, size_t axes, int64_t otherwise) {
  return stretchedTo2d(within(call, name, perAxis(call, name, axes, otherwise), otherwise), otherwise);
}

// The elements that axis `i` is to have; below 0 where its padding says.
int64_t wantedLength(const NodeCall& call, size_t i, int64_t from, int64_t stride) {
  const Dims asked = stretchedTo2d(call.integers("output_shape"), 1);
  const bool same = automaticPadding(call).rfind("SAME", 0) == 0;
  return asked.size() == 2 ? asked[i] : same ? from * stride : -1;
}

NodeResults transposedConvolution(NodeCall& call) {
  const size_t axes = call.operandOfRank(0, 3).shape().rank() - 2;
  if (axes > 2) {
    throw Unsupported("pictures of three axes");
  }
  const Dims filterDims = dimsOf(call.operand(1));
  if (filterDims.size() != axes + 2) {
    call.refuse(fmt::format("a filter of shape {} for {} axes", toString(call.operand(1).shape()), axes));
  }
  call.only("kernel_shape", Dims(filterDims.begin() + 2, filterDims.end()));
  const Tensor a = as2d(call.operand(0)), filter = as2d(call.operand(1));
  ops::Conv2dInputGradient op;
  op.groups = call.integer("group", 1);
  op.strides = ofAxes(call, "strides", axes, 1);
  op.dilations = ofAxes(call, "dilations", axes, 1);
  op.shape = {a.shape()[0], filter.shape()[1] * op.groups};
  const Dims extra = ofAxes(call, "output_padding", axes, 0),
             pads = within(call, "pads", perAxis(call, "pads", 2 * axes, 0), 0);
  const auto half = static_cast<int64_t>(axes);
  const Dims low = stretchedTo2d(Dims(pads.begin(), pads.begin() + half), 0);
  const Dims high = stretchedTo2d(Dims(pads.begin() + half, pads.end()), 0);
  const bool lower = automaticPadding(call) == "SAME_LOWER";
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
    throw Unsupported("the places of the maxima as a result");
  }
  call.ignore("storage_order"); // of the places alone
  const Tensor a = call.operand(0);
  const Windows w = windowsOf(call, call.integers("kernel_shape"), pictureOf(a));
  return {as1d(maxPool(as2d(a), w.size, windowOf(w)), w.flat)};
}

// The sum of each window of pictures of one channel.
Tensor sumPool(NodeCall& call, Tensor a, const Windows& w) {
  return conv2d(a, broadcast(call.scalar(a, 1), {1, 1, w.size[0], w.size[1]}), windowOf(w));
}

// The sums of the windows by the number of elements that each counts: those of the picture, or those of the
// picture with the padding that the node asks for. Says what averagePool cannot: dilations, and windows that
// reach behind the padding.
Tensor averageByCount(NodeCall& call, Tensor a, const Windows& w, bool countPadding) {
  const Dims d = dimsOf(a);
  Windows over = w;
  Dims counted{1, 1, d[2], d[3]};
  for (size_t i = 0; countPadding && i < 2; ++i) {
    counted[2 + i] += w.low[i] + std::min(w.counted[i], w.high[i]);
    over.low[i] = 0;
    over.high[i] = w.high[i] - std::min(w.counted[i], w.high[i]);
  }
  const Tensor sum = sumPool(call, reshape(a, {d[0] * d[1], 1, d[2], d[3]}), w);
  const Tensor mean = sum / sumPool(call, broadcast(call.scalar(a, 1), counted), over);
  return reshape(mean, {d[0], d[1], mean.shape()[2], mean.shape()[3]});
}

NodeResults averageOf(NodeCall& call) {
  const Tensor a = call.operand(0);
  const Windows w = windowsOf(call, call.integers("kernel_shape"), pictureOf(a));
  const bool countPadding = call.integer("count_include_pad", 0) != 0;
  const bool plain = w.dilations == Dims{1, 1} && (!countPadding || w.high == w.counted);
  return {as1d(plain ? averagePool(as2d(a), w.size, windowOf(w), countPadding)
                     : averageByCount(call, as2d(a), w, countPadding),
               w.flat)};
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

} // namespace dfc::onnx
