// ONNX's convolutions and transposed convolutions.
#include "ir/author/onnx/mappings/windows.h"
#include "ir/graph/graph.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc::onnx {
namespace {

NodeResults convolution(NodeCall& call) {
  const Tensor a = call.operandOfRank(0, 3), filter = call.operandOfRank(1, 3);
  const Dims size(filter.shape().dims().begin() + 2, filter.shape().dims().end());
  call.only("kernel_shape", size);
  const Windows w = windowsOf(call, size, pictureOf(a));
  const Tensor result = convolved(call, as2d(a), as2d(filter), w, call.integer("group", 1));
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
    throw Unsupported("a transposed convolution over pictures of three axes");
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

} // namespace

MappingTable convolutionMappings() {
  return {{"Conv", convolution}, {"ConvTranspose", transposedConvolution}};
}

} // namespace dfc::onnx
