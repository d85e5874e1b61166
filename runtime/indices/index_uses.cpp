// Forward over the ops, with the places of an input's elements.
#include "runtime/indices/index_uses.h"

#include "ir/graph/rules/op_rules.h"
#include "ir/graph/whole_state.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace dfc {
namespace {

/// Counted from the end where negative.
IndexRange fromEitherEnd(OpId op, int64_t length) { return {op, -length, length}; }

/// Of the op's operand `operand`, where that holds indices.
std::optional<IndexRange> rangeOf(const Graph& graph, OpId op, size_t operand) {
  const OpRow& row = graph[op];
  const Shape& first = graph.typeOf(row.operands[0]).shape;
  const auto along = [&](int64_t axis) { return first[*normalAxis(axis, first.rank())]; };
  if (const auto* gather = row.getIf<ops::Gather>(); gather != nullptr && operand == 1) {
    return fromEitherEnd(op, gather->part.lengthOf(along(gather->axis)));
  }
  if (const auto* scatter = row.getIf<ops::ScatterAdd>(); scatter != nullptr && operand == 1) {
    return fromEitherEnd(op, scatter->part.lengthOf(along(scatter->axis)));
  }
  if (const auto* oneHot = row.getIf<ops::OneHot>()) {
    return fromEitherEnd(op, oneHot->part.lengthOf(oneHot->depth));
  }
  const bool takesLabels =
      row.kind() == OpKind::SoftmaxCrossEntropy || row.kind() == OpKind::SoftmaxCrossEntropyGradient;
  return takesLabels && operand == 1 ? std::optional(IndexRange{op, 0, first[1]}) : std::nullopt;
}

/// Whether the op's convention for indices out of range is one that a graph may count on.
bool isMeant(OpKind kind) { return kind == OpKind::OneHot || kind == OpKind::ScatterAdd; }

bool holdsIndices(const TensorType& type) {
  return !isFloat(type.element) && type.element != ElementType::Bool;
}

/// Whether the elements of the first operand stay as they are, in their order.
bool keepsOrder(const Graph& graph, OpId op) {
  const OpRow& row = graph[op];
  const OpClass opClass = classOf(row.kind());
  return opClass == OpClass::Transfer || opClass == OpClass::View ||
         (row.kind() == OpKind::Cast && holdsIndices(graph.typeOf(row.operands[0])) &&
          holdsIndices(graph.typeOf(row.firstResult)));
}

/// Where elements of a row-major tensor lie in another: `offset`, and a stride for each axis.
struct Strided {
  int64_t offset = 0;
  Dims strides;
};

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

/// Of result `result`; none where the op is not of these.
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
    return Strided{0, stridesOf(graph.typeOf(row.firstResult).shape)};
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

/// The places that a result of this shape takes of its operand's.
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

/// Whether the op is this input of the author's, or a part of it, and may feed indices.
bool feeds(const Graph& graph, OpId op, std::string_view input) {
  return authorNameOf(graph, op) == input && holdsIndices(graph.typeOf(graph[op].firstResult));
}

/// Calls `visit(range, operand)` for every op that takes values of `reached` for indices, and
/// `pass(operand, result, taken)` for every result that holds elements of such a value.
template <class Reached, class Visit, class Pass>
void followIndices(const Graph& graph, const Reached& reached, const Visit& visit, const Pass& pass) {
  for (const OpId op : graph.ops()) {
    const OpRow& row = graph[op];
    for (size_t i = 0; i < row.operands.size(); ++i) {
      if (const auto range = reached(row.operands[i]) ? rangeOf(graph, op, i) : std::nullopt) {
        visit(*range, row.operands[i]);
      }
    }
    for (uint32_t i = 0; i < row.resultCount && !row.operands.empty() && reached(row.operands[0]); ++i) {
      if (const auto taken = takenBy(graph, op, i)) {
        pass(row.operands[0], ValueId(row.firstResult.index() + i), *taken);
      }
    }
  }
}

/// 0, 1, … of the author's input, or of a part of it.
Literal placesOf(const Graph& graph, OpId input) {
  Literal whole(TensorType{ElementType::I64, authorTypeOf(graph, input).shape});
  const auto places = whole.mutableData<int64_t>();
  std::iota(places.begin(), places.end(), 0);
  const TensorPart& part = placeOf(graph, input);
  return part.isPart() ? part.valueIn(whole, graph.typeOf(graph[input].firstResult).shape) : whole;
}

} // namespace

std::vector<IndexUse> indexUsesOf(const Graph& graph, std::string_view input) {
  SideTable<ValueId, std::optional<Literal>> places(graph.valueCount());
  for (const OpId op : graph.opsOf(OpKind::Input)) {
    if (feeds(graph, op, input)) {
      places[graph[op].firstResult] = placesOf(graph, op);
    }
  }
  std::vector<IndexUse> uses;
  followIndices(
      graph, [&](ValueId value) { return places[value].has_value(); },
      [&](const IndexRange& range, ValueId operand) {
        uses.push_back({range, *places[operand]});
      },
      [&](ValueId from, ValueId to, const Strided& taken) {
        places[to] = placesTaken(*places[from], graph.typeOf(to).shape, taken);
      });
  return uses;
}

std::vector<std::pair<std::string, IndexRange>> refusedRanges(const Graph& graph) {
  SideTable<ValueId, OpId> from(graph.valueCount()); // an input
  for (const OpId op : graph.opsOf(OpKind::Input)) {
    from[graph[op].firstResult] = feeds(graph, op, authorNameOf(graph, op)) ? op : OpId();
  }
  std::vector<std::pair<std::string, IndexRange>> all;
  followIndices(
      graph, [&](ValueId value) { return from[value].valid(); },
      [&](const IndexRange& range, ValueId operand) {
        if (isMeant(graph[range.op].kind())) {
          return;
        }
        const std::string_view name = authorNameOf(graph, from[operand]);
        const auto known =
            std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.first == name; });
        if (known == all.end()) {
          all.emplace_back(name, range);
        } else {
          known->second.least = std::max(known->second.least, range.least);
          known->second.end = std::min(known->second.end, range.end);
        }
      },
      [&](ValueId operand, ValueId to, const Strided&) { from[to] = from[operand]; });
  return all;
}

} // namespace dfc
