// ONNX's ops that move elements.
#include "ir/author/dsl.h"
#include "ir/author/onnx/node_call.h"
#include "ir/graph/graph.h"
#include "ir/graph/rules/op_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace dfc::onnx {
namespace {

size_t axisOf(int64_t axis, size_t rank) {
  const std::optional<size_t> normal = normalAxis(axis, rank);
  if (!normal) {
    throw BadFile(fmt::format("there is no axis {} of {}", axis, rank));
  }
  return *normal;
}

NodeResults reshaped(NodeCall& call) {
  const Tensor a = call.operand(0);
  Dims dims = call.has(1) ? call.dims(1) : call.integers("shape");
  const bool copies = call.integer("allowzero", 0) == 0;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 0 && copies) {
      dims[i] = i < a.shape().rank() ? a.shape()[i] : 0;
    }
  }
  return {reshape(a, dims)};
}

NodeResults flattened(NodeCall& call) {
  const Tensor a = call.operand(0);
  const auto rank = static_cast<int64_t>(a.shape().rank());
  const int64_t axis = call.integer("axis", 1);
  if (axis < -rank || axis > rank) {
    call.refuse(fmt::format("axis {} of {}", axis, rank));
  }
  const auto split = static_cast<size_t>(axis < 0 ? axis + rank : axis);
  const llvm::ArrayRef<int64_t> dims = dimRange(a.shape());
  const auto product = [](llvm::ArrayRef<int64_t> part) {
    return std::accumulate(part.begin(), part.end(), int64_t(1), std::multiplies<>());
  };
  return {reshape(a, {product(dims.take_front(split)), product(dims.drop_front(split))})};
}

NodeResults squeezed(NodeCall& call) {
  const Tensor a = call.operand(0);
  const Dims wanted = call.has(1) ? call.dims(1) : call.integers("axes");
  std::vector<bool> drop(a.shape().rank());
  for (size_t i = 0; i < drop.size(); ++i) {
    drop[i] = wanted.empty() && a.shape()[i] == 1;
  }
  for (const int64_t axis : wanted) {
    drop[axisOf(axis, drop.size())] = true;
  }
  Dims dims;
  for (size_t i = 0; i < drop.size(); ++i) {
    if (!drop[i]) {
      dims.push_back(a.shape()[i]);
    }
  }
  return {reshape(a, dims)};
}

NodeResults unsqueezed(NodeCall& call) {
  const Tensor a = call.operand(0);
  const Dims wanted = call.has(1) ? call.dims(1) : call.integers("axes");
  std::vector<bool> fresh(a.shape().rank() + wanted.size());
  for (const int64_t axis : wanted) {
    fresh[axisOf(axis, fresh.size())] = true;
  }
  Dims dims;
  size_t next = 0;
  for (const bool one : fresh) { // an axis that is named twice leaves too many
    dims.push_back(one || next == a.shape().rank() ? 1 : a.shape()[next++]);
  }
  return {reshape(a, dims)};
}

NodeResults expanded(NodeCall& call) {
  const Tensor a = call.operand(0);
  const Dims wanted = call.dims(1);
  const auto common = Shape::valid(wanted) && wanted.size() <= Shape::maxRank
                          ? broadcastShapes(a.shape(), Shape(std::span<const int64_t>(wanted)))
                          : std::nullopt;
  if (!common) {
    throw BadFile(fmt::format("{} cannot be expanded to [{}]", toString(a.shape()), fmt::join(wanted, ", ")));
  }
  return {broadcast(a, Dims(common->dims().begin(), common->dims().end()))};
}

NodeResults transposed(NodeCall& call) { return {transpose(call.operand(0), call.integers("perm"))}; }

NodeResults joined(NodeCall& call) {
  std::vector<Tensor> parts;
  for (size_t i = 0; i < call.operands(); ++i) {
    parts.push_back(call.operand(i));
  }
  return {concat(parts, call.integer("axis", 1))};
}

NodeResults parted(NodeCall& call) {
  const Tensor a = call.operand(0);
  const int64_t axis = call.integer("axis", 0);
  Dims sizes = call.has(1) ? call.dims(1) : call.integers("split");
  call.only("num_outputs", static_cast<int64_t>(call.results()));
  if (sizes.empty()) {
    const int64_t length = a.shape()[axisOf(axis, a.shape().rank())];
    const auto parts = static_cast<int64_t>(std::max<size_t>(call.results(), 1));
    const int64_t each = (length + parts - 1) / parts;
    for (int64_t i = 0; i < parts; ++i) {
      sizes.push_back(std::clamp<int64_t>(length - i * each, 0, each));
    }
  }
  return split(a, sizes, axis);
}

// Elements begin, begin + step, … before end: by a slice forwards, by a gather backwards.
Tensor sliced(NodeCall& call, Tensor a, size_t axis, int64_t begin, int64_t end, int64_t step) {
  const int64_t length = a.shape()[axis];
  if (step == 0 || step == std::numeric_limits<int64_t>::min()) {
    call.refuse(fmt::format("a step of {}", step));
  }
  const int64_t least = step > 0 ? 0 : -1, most = step > 0 ? length : length - 1;
  if (length == 0) {
    return a;
  }
  begin = std::clamp(begin < 0 ? begin + length : begin, int64_t(0), most);
  end = std::clamp(end < 0 ? end + length : end, least, length);
  if (step > 0) {
    Dims starts(a.shape().rank(), 0), ends = dimsOf(a), strides(a.shape().rank(), 1);
    starts[axis] = begin;
    ends[axis] = std::max(begin, end);
    strides[axis] = step;
    return slice(a, starts, ends, strides);
  }
  call.spend(begin - end);
  std::vector<int64_t> order;
  for (int64_t i = begin; i > end; i += step) {
    order.push_back(i);
  }
  return gather(a, call.whole(order), static_cast<int64_t>(axis));
}

NodeResults slicedAll(NodeCall& call) {
  Tensor a = call.operand(0);
  const bool attributes = call.opset() < 10;
  const Dims starts = attributes ? call.integers("starts") : call.dims(1);
  const Dims ends = attributes ? call.integers("ends") : call.dims(2);
  Dims axes = attributes ? call.integers("axes") : call.has(3) ? call.dims(3) : Dims{};
  const Dims steps = !attributes && call.has(4) ? call.dims(4) : Dims(starts.size(), 1);
  if (axes.empty()) {
    axes.resize(starts.size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size()) {
    call.refuse(fmt::format("{} starts, {} ends, {} axes and {} steps", starts.size(), ends.size(),
                            axes.size(), steps.size()));
  }
  for (size_t i = 0; i < starts.size(); ++i) {
    a = sliced(call, a, axisOf(axes[i], a.shape().rank()), starts[i], ends[i], steps[i]);
  }
  return {a};
}

// Which element stands at position i of an axis that is continued by reflection, by its edge or periodically.
int64_t continued(int64_t i, int64_t length, const std::string& mode) {
  if (mode == "edge") {
    return std::clamp<int64_t>(i, 0, length - 1);
  }
  const int64_t period = mode == "wrap" ? length : std::max<int64_t>(2 * (length - 1), 1);
  const int64_t within = ((i % period) + period) % period;
  return within < length ? within : period - within;
}

/// Elements before and after each axis; below zero as many are taken away.
struct Edges {
  Dims low, high;
};

// The paddings are of all axes, or of those that operand 3 names.
Edges edgesOf(NodeCall& call, size_t rank) {
  const Dims pads = call.opset() < 11 ? call.integers("pads") : call.dims(1);
  Dims axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  axes = call.has(3) ? call.dims(3) : axes;
  if (pads.size() != 2 * axes.size()) {
    call.refuse(fmt::format("{} pads for {} axes", pads.size(), axes.size()));
  }
  Edges edges{Dims(rank, 0), Dims(rank, 0)};
  for (size_t i = 0; i < axes.size(); ++i) {
    const size_t axis = axisOf(axes[i], rank);
    edges.low[axis] = pads[i];
    edges.high[axis] = pads[axes.size() + i];
  }
  return edges;
}

Tensor withoutNegativeEdges(Tensor a, Edges& edges) {
  Dims starts(edges.low.size(), 0), ends = dimsOf(a);
  for (size_t axis = 0; axis < starts.size(); ++axis) {
    starts[axis] -= std::min<int64_t>(edges.low[axis], 0);
    ends[axis] += std::min<int64_t>(edges.high[axis], 0);
    edges.low[axis] = std::max<int64_t>(edges.low[axis], 0);
    edges.high[axis] = std::max<int64_t>(edges.high[axis], 0);
  }
  return ends == dimsOf(a) && starts == Dims(starts.size(), 0) ? a : slice(a, starts, ends);
}

NodeResults padded(NodeCall& call) {
  Tensor a = call.operand(0);
  const std::string mode = call.choice("mode", {"constant", "reflect", "edge", "wrap"});
  const size_t rank = a.shape().rank();
  Edges edges = edgesOf(call, rank);
  a = withoutNegativeEdges(a, edges);
  const double value = call.opset() < 11 ? call.real("value", 0) : call.has(2) ? call.number(2) : 0;
  if (mode == "constant") {
    return {pad(a, edges.low, edges.high, {}, value)};
  }
  for (size_t axis = 0; axis < rank; ++axis) {
    std::vector<int64_t> order;
    const int64_t made = std::max(edges.low[axis], edges.high[axis]);
    call.spend(made);
    call.spend(a.shape()[axis] + 2 * made);
    if (a.shape()[axis] == 0 && made > 0) {
      call.refuse("nothing that could be repeated");
    }
    for (int64_t i = -edges.low[axis]; i < a.shape()[axis] + edges.high[axis]; ++i) {
      order.push_back(continued(i, a.shape()[axis], mode));
    }
    const bool stays = edges.low[axis] == 0 && edges.high[axis] == 0;
    a = stays ? a : gather(a, call.whole(order), static_cast<int64_t>(axis));
  }
  return {a};
}

NodeResults tiled(NodeCall& call) { return {tile(call.operand(0), call.dims(1))}; }

NodeResults triangle(NodeCall& call) {
  const auto k = call.has(1) ? call.wholeNumber(1) : 0;
  return {trilu(call.operand(0), k, call.integer("upper", 1) != 0)};
}

/// The edge of the blocks of a picture.
int64_t blockOf(NodeCall& call, Tensor a) {
  const int64_t block = call.positive("blocksize", 1);
  if (a.shape().rank() != 4 || block > 32768) {
    call.refuse(fmt::format("blocks of {} of shape {}", block, toString(a.shape())));
  }
  return block;
}

NodeResults depthToSpace(NodeCall& call) {
  const Tensor a = call.operand(0);
  const int64_t block = blockOf(call, a);
  const Dims d = dimsOf(a);
  const int64_t channels = d[1] / (block * block);
  const bool columnsFirst = call.choice("mode", {"DCR", "CRD"}) == "DCR";
  const Tensor parted = columnsFirst ? reshape(a, {d[0], block, block, channels, d[2], d[3]})
                                     : reshape(a, {d[0], channels, block, block, d[2], d[3]});
  const Tensor moved = transpose(parted, columnsFirst ? Dims{0, 3, 4, 1, 5, 2} : Dims{0, 1, 4, 2, 5, 3});
  return {reshape(moved, {d[0], channels, d[2] * block, d[3] * block})};
}

NodeResults spaceToDepth(NodeCall& call) {
  const Tensor a = call.operand(0);
  const bool columnsFirst = call.choice("mode", {"DCR", "CRD"}) == "DCR";
  const int64_t block = blockOf(call, a);
  const Dims d = dimsOf(a);
  const Tensor parted = reshape(a, {d[0], d[1], d[2] / block, block, d[3] / block, block});
  return {reshape(transpose(parted, columnsFirst ? Dims{0, 3, 5, 1, 2, 4} : Dims{0, 1, 3, 5, 2, 4}),
                  {d[0], d[1] * block * block, d[2] / block, d[3] / block})};
}

} // namespace

MappingTable shapeMappings() {
  return {{"Concat", joined},   {"DepthToSpace", depthToSpace},
          {"Expand", expanded}, {"Flatten", flattened},
          {"Pad", padded},      {"Reshape", reshaped},
          {"Slice", slicedAll}, {"SpaceToDepth", spaceToDepth},
          {"Split", parted},    {"Squeeze", squeezed},
          {"Tile", tiled},      {"Transpose", transposed},
          {"Trilu", triangle},  {"Unsqueeze", unsqueezed}};
}

} // namespace dfc::onnx
