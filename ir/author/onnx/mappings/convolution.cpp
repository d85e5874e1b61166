// ONNX's convolutions and transposed convolutions.
#include "ir/author/dsl/transposed_convolution.h"
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

Dims ofAxes(const NodeCall& call, const char* name, size_t axes, int64_t otherwise) {
  return stretchedTo2d(within(call, name, perAxis(call, name, axes, otherwise), otherwise), otherwise);
}

// The elements that each axis is to have; below 0 where its padding says.
Dims wantedLengths(const NodeCall& call, const Dims& picture, const Dims& strides) {
  const Dims asked = stretchedTo2d(within(call, "output_shape", call.integers("output_shape"), 0), 1);
  if (asked.size() == picture.size()) {
    return asked;
  }
  Dims wanted(picture.size(), -1);
  for (size_t i = 0; automaticPadding(call).rfind("SAME", 0) == 0 && i < picture.size(); ++i) {
    wanted[i] = picture[i] * strides[i];
  }
  return wanted;
}

using Transposed = dsl::TransposedWindows;

Transposed transposedOf(const NodeCall& call, const Dims& picture, const Dims& size, size_t axes) {
  refuseLong(call, picture);
  refuseLong(call, size);
  Transposed t;
  t.groups = call.integer("group", 1);
  t.strides = ofAxes(call, "strides", axes, 1);
  t.dilations = ofAxes(call, "dilations", axes, 1);
  const Dims extra = ofAxes(call, "output_padding", axes, 0),
             pads = within(call, "pads", perAxis(call, "pads", 2 * axes, 0), 0);
  const auto half = static_cast<int64_t>(axes);
  const Dims low = stretchedTo2d(Dims(pads.begin(), pads.begin() + half), 0);
  const Dims high = stretchedTo2d(Dims(pads.begin() + half, pads.end()), 0);
  const Dims wanted = wantedLengths(call, picture, t.strides);
  const bool lower = automaticPadding(call) != "SAME_UPPER"; // of a number of elements that is asked for
  for (size_t i = 0; i < picture.size(); ++i) {
    const int64_t reach = t.dilations[i] * (size[i] - 1) + 1;
    t.axes.push_back(dsl::transposedAxis((picture[i] - 1) * t.strides[i] + reach + extra[i], extra[i],
                                         wanted[i], lower, low[i], high[i]));
  }
  return t;
}

// Elements begin, …, end - 1 along axis 1, with zeros where there are none.
Tensor taken(const NodeCall& call, Tensor a, int64_t begin, int64_t end) {
  if (end <= begin) {
    call.refuse(fmt::format("a result of {} elements along an axis", end - begin));
  }
  Dims low(a.shape().rank(), 0), high = low, starts = low, ends = dimsOf(a);
  low[1] = std::max<int64_t>(0, -begin);
  high[1] = std::max<int64_t>(0, end - ends[1]);
  starts[1] = std::max<int64_t>(0, begin);
  ends[1] = end + low[1];
  return slice(low[1] + high[1] == 0 ? a : pad(a, low, high), starts, ends);
}

// Over three axes (Dumoulin and Visin 2016): for each place of the filter along the first, pictures of the
// other two, which lie `stride` apart in the result, the place's dilation further on.
Tensor transposed3d(NodeCall& call, Tensor a, Tensor filter, const Transposed& t) {
  const Dims d = dimsOf(a), f = dimsOf(filter);
  const int64_t reach = t.dilations[0] * (f[2] - 1) + 1, full = (d[2] - 1) * t.strides[0] + reach;
  if (f[2] < 1 || d[2] < 1) {
    call.refuse(fmt::format("a filter of {} and a picture of {} along the first axis", f[2], d[2]));
  }
  call.spend(16 * f[2]); // ops of a place, about
  const Tensor flat = reshape(transpose(a, {0, 2, 1, 3, 4}), {d[0] * d[2], d[1], d[3], d[4]});
  Tensor sum;
  for (int64_t k = 0; k < f[2]; ++k) {
    const Tensor slab = slice(filter, {0, 0, k, 0, 0}, {f[0], f[1], k + 1, f[3], f[4]});
    const Tensor made = dsl::transposed2d(flat, reshape(slab, {f[0], f[1], f[3], f[4]}), t);
    const Dims m = dimsOf(made);
    const int64_t before = k * t.dilations[0];
    const Tensor part = pad(reshape(made, {d[0], d[2], m[1], m[2], m[3]}), {0, before, 0, 0, 0},
                            {0, reach - 1 - before, 0, 0, 0}, {0, t.strides[0] - 1, 0, 0, 0});
    sum = sum.valid() ? sum + part : part;
  }
  const dsl::TransposedAxis& axis = t.axes[0];
  if (axis.low != 0 || axis.length + axis.after != full) {
    sum = taken(call, sum, axis.low, axis.low + axis.length + axis.after);
  }
  return transpose(sum, {0, 2, 1, 3, 4});
}

NodeResults transposedConvolution(NodeCall& call) {
  const size_t axes = call.operandOfRank(0, 3).shape().rank() - 2;
  if (axes > 3) {
    throw Unsupported("a transposed convolution over pictures of more than three axes");
  }
  const Dims size = dimsOf(call.operand(1));
  if (size.size() != axes + 2) {
    call.refuse(fmt::format("a filter of shape {} for {} axes", toString(call.operand(1).shape()), axes));
  }
  call.only("kernel_shape", Dims(size.begin() + 2, size.end()));
  const Tensor a = as2d(call.operand(0)), filter = as2d(call.operand(1));
  const Transposed t = transposedOf(call, pictureOf(a), pictureOf(filter), axes);
  const Tensor made = axes == 3 ? transposed3d(call, a, filter, t) : dsl::transposed2d(a, filter, t);
  return withBias(call, as1d(made, axes == 1), 2);
}

} // namespace

MappingTable convolutionMappings() {
  return {{"Conv", convolution}, {"ConvTranspose", transposedConvolution}};
}

} // namespace dfc::onnx
