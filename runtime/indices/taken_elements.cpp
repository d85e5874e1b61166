#include "runtime/indices/taken_elements.h"

#include "ir/graph/rules/op_rules.h"

#include <numeric>

namespace dfc {
namespace {

Dims stridesOf(const Shape& shape) {
  Dims strides(shape.rank(), 1);
  for (size_t axis = shape.rank(); axis-- > 1;) {
    strides[axis - 1] = strides[axis] * shape[axis];
  }
  return strides;
}

Strided slicedBy(const ops::Slice& slice, const Shape& from) {
  Strided taken{0, stridesOf(from)};
  for (size_t axis = 0; axis < from.rank(); ++axis) {
    taken.offset += slice.starts[axis] * taken.strides[axis];
    taken.strides[axis] *= slice.strides.empty() ? 1 : slice.strides[axis];
  }
  return taken;
}

Strided transposedBy(const ops::Transpose& transpose, const Shape& from) {
  const Dims strides = stridesOf(from);
  Strided taken{0, Dims(from.rank(), 0)};
  for (size_t axis = 0; axis < from.rank(); ++axis) {
    taken.strides[axis] = transpose.permutation.empty()
                              ? strides[from.rank() - 1 - axis]
                              : strides[static_cast<size_t>(transpose.permutation[axis])];
  }
  return taken;
}

} // namespace

bool holdsIndices(const TensorType& type) {
  return !isFloat(type.element) && type.element != ElementType::Bool;
}

bool keepsOrder(const Graph& graph, OpId op) {
  const OpRow& row = graph[op];
  const OpClass opClass = classOf(row.kind());
  return opClass == OpClass::Transfer || opClass == OpClass::View ||
         (row.kind() == OpKind::Cast && holdsIndices(graph.typeOf(row.operands[0])) &&
          holdsIndices(graph.typeOf(row.firstResult)));
}

Strided allOf(const Shape& shape) { return {0, stridesOf(shape)}; }

std::optional<Strided> takenBy(const Graph& graph, OpId op, uint32_t result) {
  const OpRow& row = graph[op];
  if (row.operands.empty()) {
    return std::nullopt;
  }
  const Shape& from = graph.typeOf(row.operands[0]).shape;
  if (const auto* subview = row.getIf<ops::Subview>()) {
    return Strided{subview->start, stridesOf(Shape(subview->shape))};
  }
  if (keepsOrder(graph, op)) {
    return allOf(graph.typeOf(row.firstResult).shape);
  }
  if (const auto* slice = row.getIf<ops::Slice>()) {
    return slicedBy(*slice, from);
  }
  if (const auto* transpose = row.getIf<ops::Transpose>()) {
    return transposedBy(*transpose, from);
  }
  if (const auto* split = row.getIf<ops::Split>()) {
    Strided taken{0, stridesOf(from)};
    const int64_t stride = taken.strides[*normalAxis(split->axis, from.rank())];
    taken.offset = std::accumulate(split->sizes.begin(), split->sizes.begin() + result, int64_t{0}) * stride;
    return taken;
  }
  return std::nullopt;
}

Literal placesTaken(const Literal& from, const Shape& shape, const Strided& taken) {
  Literal to(TensorType{ElementType::I64, shape});
  const auto read = from.data<int64_t>();
  const auto written = to.mutableData<int64_t>();
  Dims at(shape.rank(), 0);
  for (int64_t& place : written) {
    int64_t source = taken.offset;
    for (size_t axis = 0; axis < at.size(); ++axis) {
      source += at[axis] * taken.strides[axis];
    }
    place = read[static_cast<size_t>(source)];
    for (size_t axis = at.size(); axis-- > 0 && ++at[axis] == shape[axis];) {
      at[axis] = 0;
    }
  }
  return to;
}

} // namespace dfc
