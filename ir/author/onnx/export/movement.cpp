// Ops that move elements, as nodes.
#include "ir/author/dsl.h"
#include "ir/author/onnx/export/export_call.h"
#include "ir/graph/rules/op_rules.h"

#include <algorithm>
#include <numeric>

namespace dfc::onnx {
namespace {

Dims dimsOf(const Shape& shape) { return {shape.dims().begin(), shape.dims().end()}; }

Names reshapedAs(ExportCall& call) {
  return {call.reshaped(call.operand(0), dimsOf(call.resultType().shape))};
}

Names same(ExportCall& call) { return {call.operand(0)}; }

std::string permuted(ExportCall& call, const std::string& a, const Dims& order) {
  return call.node("Transpose", {a}, {{"perm", attributeOf(order)}});
}

Names transposed(ExportCall& call) {
  Dims order = call.as<ops::Transpose>().permutation;
  if (order.empty()) {
    order.resize(call.type(0).shape.rank());
    std::iota(order.rbegin(), order.rend(), 0);
  }
  return {permuted(call, call.operand(0), order)};
}

Names expanded(ExportCall& call) {
  return {call.node("Expand", {call.operand(0), call.list(call.as<ops::Broadcast>().shape)})};
}

Names joined(ExportCall& call) {
  return {call.node("Concat", call.all(), {{"axis", attributeOf(call.as<ops::Concat>().axis)}})};
}

Names parted(ExportCall& call) {
  const auto& op = call.as<ops::Split>();
  return call.nodeOf(op.sizes.size(), "Split", {call.operand(0), call.list(op.sizes)},
                     {{"axis", attributeOf(op.axis)}});
}

Names sliced(ExportCall& call) {
  const auto& op = call.as<ops::Slice>();
  Dims axes(op.starts.size());
  std::iota(axes.begin(), axes.end(), 0);
  Names operands{call.operand(0), call.list(op.starts), call.list(op.ends), call.list(axes)};
  if (!op.strides.empty()) {
    operands.push_back(call.list(op.strides));
  }
  return {axes.empty() ? call.operand(0) : call.node("Slice", operands)};
}

bool hasInterior(const ops::Pad& op) {
  return std::any_of(op.interior.begin(), op.interior.end(), [](int64_t between) { return between != 0; });
}

// Each element with `between` copies of the value behind it, but for the last.
Tensor spread(Tensor a, size_t axis, int64_t between, double value) {
  Dims dims = dimsOf(a.shape()), low(dims.size() + 1, 0), high = low, starts(dims.size(), 0);
  const int64_t length = dims[axis];
  if (between == 0 || length == 0) {
    return a;
  }
  dims.insert(dims.begin() + static_cast<int64_t>(axis) + 1, 1);
  high[axis + 1] = between;
  const Tensor padded = pad(reshape(a, dims), low, high, {}, value);
  dims.erase(dims.begin() + static_cast<int64_t>(axis) + 1);
  dims[axis] = length * (between + 1);
  Dims ends = dims;
  ends[axis] -= between;
  return slice(reshape(padded, dims), starts, ends);
}

Names padded(ExportCall& call) {
  const auto& op = call.as<ops::Pad>();
  if (hasInterior(op)) {
    if (call.type(0).shape.rank() == Shape::maxRank) {
      throw NotExported("padding between the elements of a tensor of so many axes");
    }
    return call.formula([&](const std::vector<Tensor>& in) {
      Tensor a = in[0];
      for (size_t axis = 0; axis < op.interior.size(); ++axis) {
        a = spread(a, axis, op.interior[axis], op.value);
      }
      return std::vector<Tensor>{pad(a, op.low, op.high, {}, op.value)};
    });
  }
  Dims edges = op.low;
  edges.insert(edges.end(), op.high.begin(), op.high.end());
  return {edges.empty() ? call.operand(0)
                        : call.node("Pad", {call.operand(0), call.list(edges),
                                            call.scalar(call.type(0).element, op.value)})};
}

Names tiled(ExportCall& call) {
  return {call.node("Tile", {call.operand(0), call.list(call.as<ops::Tile>().repeats)})};
}

void refuseParts(const AxisPart& part) {
  if (part.isPart()) {
    throw NotExported("of a part of an axis");
  }
}

Names gathered(ExportCall& call) {
  const auto& op = call.as<ops::Gather>();
  refuseParts(op.part);
  return {call.node("Gather", call.all(), {{"axis", attributeOf(op.axis)}})};
}

// ScatterND adds to the slices of the first axis: the axis goes there, and back.
Names scattered(ExportCall& call) {
  const auto& op = call.as<ops::ScatterAdd>();
  refuseParts(op.part);
  const auto rank = static_cast<int64_t>(call.type(0).shape.rank());
  const auto axis = static_cast<int64_t>(*normalAxis(op.axis, static_cast<size_t>(rank)));
  const auto indexAxes = static_cast<int64_t>(call.type(1).shape.rank());
  Dims order{axis}, back, updates;
  for (int64_t i = 0; i < rank; ++i) {
    if (i != axis) {
      order.push_back(i);
    }
    back.push_back(i < axis ? i + 1 : i == axis ? 0 : i);
  }
  for (int64_t i = 0; i < indexAxes; ++i) {
    updates.push_back(axis + i);
  }
  for (int64_t i = 0; i < rank - 1; ++i) {
    updates.push_back(i < axis ? i : i + indexAxes);
  }
  Dims tuples = call.dims(1);
  tuples.push_back(1);
  const std::string places = call.reshaped(call.cast(call.operand(1), ElementType::I64), tuples);
  const auto moved = [&](const std::string& a, const Dims& by) {
    return std::is_sorted(by.begin(), by.end()) ? a : permuted(call, a, by);
  };
  const std::string sum =
      call.node("ScatterND", {moved(call.operand(0), order), places, moved(call.operand(2), updates)},
                {{"reduction", attributeOf("add")}});
  return {moved(sum, back)};
}

// Values of f32, as runtimes have the op for few types.
Names hot(ExportCall& call) {
  const auto& op = call.as<ops::OneHot>();
  refuseParts(op.part);
  const std::string indices = call.cast(call.operand(0), ElementType::I64);
  const std::string values = call.constant(Literal::of<float>({2}, {0, 1}));
  const std::string made = call.node("OneHot", {indices, call.constant(Literal::scalar(op.depth)), values},
                                     {{"axis", attributeOf(op.axis)}});
  return {op.to == ElementType::F32 ? made : call.cast(made, op.to)};
}

Names counted(ExportCall& call) {
  const auto& op = call.as<ops::Iota>();
  const Dims dims = dimsOf(op.type.shape);
  const size_t axis = *normalAxis(op.axis, dims.size());
  Dims line(dims.size(), 1);
  line[axis] = dims[axis];
  const auto whole = [&](int64_t value) { return call.constant(Literal::scalar(value)); };
  std::string made = call.node("Range", {whole(op.start), whole(op.start + dims[axis]), whole(1)});
  made = op.type.element == ElementType::I64 ? made : call.cast(made, op.type.element);
  made = line.size() == 1 ? made : call.reshaped(made, line);
  return {line == dims ? made : call.node("Expand", {made, call.list(dims)})};
}

Names triangle(ExportCall& call) {
  const auto& op = call.as<ops::Trilu>();
  return {call.node("Trilu", {call.operand(0), call.constant(Literal::scalar(op.k))},
                    {{"upper", attributeOf(int64_t{op.upper})}})};
}

/// The axes that have starts, and the start of each, moved so that `sizes` elements lie inside.
struct Starts {
  Dims axes;
  std::vector<Tensor> each;
};

Starts startsOf(Tensor given, Dims axes, const Shape& shape, const Dims& sizes) {
  Starts starts{std::move(axes), {}};
  const Tensor line = reshape(cast(given, ElementType::I64), {-1});
  if (starts.axes.empty()) {
    starts.axes.resize(static_cast<size_t>(line.shape()[0]));
    std::iota(starts.axes.begin(), starts.axes.end(), 0);
  }
  for (size_t i = 0; i < starts.axes.size(); ++i) {
    const size_t axis = *normalAxis(starts.axes[i], shape.rank());
    starts.axes[i] = static_cast<int64_t>(axis);
    const auto at = static_cast<int64_t>(i);
    starts.each.push_back(
        clip(reshape(slice(line, {at}, {at + 1}), {}), 0, static_cast<double>(shape[axis] - sizes[i])));
  }
  return starts;
}

// A gather along each axis, so that the shape does not depend on the starts.
Names dynamicallySliced(ExportCall& call) {
  const auto& op = call.as<ops::DynamicSlice>();
  return call.formula([&](const std::vector<Tensor>& in) {
    Tensor a = in[0];
    const Starts starts = startsOf(in[1], op.axes, a.shape(), op.sizes);
    for (size_t i = 0; i < starts.axes.size(); ++i) {
      a = gather(a, iota(*a.builder(), i64({op.sizes[i]})) + starts.each[i], starts.axes[i]);
    }
    return std::vector<Tensor>{a};
  });
}

// Where an element lies in the update, that element of the update.
Names dynamicallyUpdated(ExportCall& call) {
  const auto& op = call.as<ops::DynamicUpdateSlice>();
  if (call.type(1).shape.elements() == 0) {
    return {call.operand(0)};
  }
  return call.formula([&](const std::vector<Tensor>& in) {
    const Tensor a = in[0];
    Dims axes = op.axes, sizes;
    if (axes.empty()) {
      axes.resize(static_cast<size_t>(std::max<int64_t>(in[2].shape().elements(), 1)));
      std::iota(axes.begin(), axes.end(), 0);
    }
    for (const int64_t axis : axes) {
      sizes.push_back(in[1].shape()[*normalAxis(axis, a.shape().rank())]);
    }
    const Starts starts = startsOf(in[2], axes, a.shape(), sizes);
    Tensor update = in[1], inside;
    for (size_t i = 0; i < axes.size(); ++i) {
      const auto axis = static_cast<size_t>(starts.axes[i]);
      const Tensor place = iota(*a.builder(), i64({a.shape()[axis]})) - starts.each[i];
      const auto last = static_cast<double>(sizes[i] - 1);
      update = gather(update, clip(place, 0, last), starts.axes[i]);
      Dims line(a.shape().rank(), 1);
      line[axis] = a.shape()[axis];
      const Tensor here =
          reshape(compare(place, 0, Direction::Ge) & compare(place, last, Direction::Le), line);
      inside = inside.valid() ? inside & here : here;
    }
    return std::vector<Tensor>{select(inside, update, a)};
  });
}

} // namespace

OpExport movementExport(OpKind kind) {
  switch (kind) {
  case OpKind::Reshape: return reshapedAs;
  case OpKind::Cut:
  case OpKind::StopGradient: return same;
  case OpKind::Transpose: return transposed;
  case OpKind::Broadcast: return expanded;
  case OpKind::Concat: return joined;
  case OpKind::Split: return parted;
  case OpKind::Slice: return sliced;
  case OpKind::DynamicSlice: return dynamicallySliced;
  case OpKind::DynamicUpdateSlice: return dynamicallyUpdated;
  case OpKind::Pad: return padded;
  case OpKind::Tile: return tiled;
  case OpKind::Gather: return gathered;
  case OpKind::ScatterAdd: return scattered;
  case OpKind::OneHot: return hot;
  case OpKind::Iota: return counted;
  case OpKind::Trilu: return triangle;
  default: return nullptr;
  }
}

} // namespace dfc::onnx
