// Forward over the ops once for where each element of a batch goes, then once over the data.
#include "tools/dfc/io/fed_indices.h"

#include "compiler/interpreter/evaluate.h"
#include "ir/graph/rules/op_rules.h"
#include "ir/graph/whole_state.h"
#include "runtime/finite/finite.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace dfc::tool {
namespace {

/// The range of the indices that an op takes: `least` and up, below `end`.
struct IndexRange {
  OpId op;
  int64_t least = 0, end = 0;
  bool holds(double index) const {
    return index >= static_cast<double>(least) && index < static_cast<double>(end);
  }
};

/// An op that takes elements of the input as indices, and which: their places in a batch, row-major.
struct IndexUse {
  IndexRange range;
  Literal places;
};

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

bool isInteger(const TensorType& type) { return !isFloat(type.element) && type.element != ElementType::Bool; }

/// Whether results are elements of the first operand as they are, in another order or fewer of them.
bool keepsElements(const Graph& graph, OpId op) {
  const OpRow& row = graph[op];
  const OpKind kind = row.kind();
  return classOf(kind) == OpClass::View || kind == OpKind::Transpose || kind == OpKind::Slice;
}

bool keepsAll(const Graph& graph, OpId op) {
  const OpRow& row = graph[op];
  return classOf(row.kind()) == OpClass::Transfer ||
         (row.kind() == OpKind::Cast && isInteger(graph.typeOf(row.operands[0])) &&
          isInteger(graph.typeOf(row.firstResult)));
}

/// 0, 1, … of the author's input, or of a part of it.
Literal placesOf(const Graph& graph, OpId input) {
  Literal whole(TensorType{ElementType::I64, authorTypeOf(graph, input).shape});
  for (int64_t i = 0; i < whole.type().shape.elements(); ++i) {
    whole.set(i, i);
  }
  const TensorPart& part = placeOf(graph, input);
  return part.isPart() ? part.valueIn(whole, graph.typeOf(graph[input].firstResult).shape) : whole;
}

std::vector<IndexUse> usesOf(const Graph& graph, std::string_view input) {
  SideTable<ValueId, std::optional<Literal>> places(graph.valueCount());
  for (const OpId op : graph.opsOf(OpKind::Input)) {
    const ValueId value = graph[op].firstResult;
    if (authorNameOf(graph, op) == input && isInteger(graph.typeOf(value))) {
      places[value] = placesOf(graph, op);
    }
  }
  std::vector<IndexUse> uses;
  for (const OpId op : graph.ops()) {
    const OpRow& row = graph[op];
    for (size_t i = 0; i < row.operands.size(); ++i) {
      const auto range = places[row.operands[i]] ? rangeOf(graph, op, i) : std::nullopt;
      if (range) {
        uses.push_back({*range, *places[row.operands[i]]});
      }
    }
    if (!row.operands.empty() && places[row.operands[0]] && row.resultCount == 1) {
      const Literal& from = *places[row.operands[0]];
      if (keepsAll(graph, op)) {
        places[row.firstResult] = from;
      } else if (keepsElements(graph, op)) {
        places[row.firstResult] = evaluateOp(row.attributes, {from})[0];
      }
    }
  }
  return uses;
}

/// Whether a step takes the element of the data, in a batch at one of these places.
class Taken {
 public:
  Taken(const Literal& places, int64_t elements, const RowsOfStep& rows)
      : rowSize_(rows.rows > 0 ? std::max<int64_t>(elements / rows.rows, 1) : 0),
        batchSize_(rows.rows > 0 ? rowSize_ * rows.perStep : elements),
        end_(rows.rows > 0 && !rows.shuffled ? elements / std::max<int64_t>(batchSize_, 1) * batchSize_
                                             : elements),
        shuffled_(rows.shuffled && rows.rows > 0), at_(static_cast<size_t>(batchSize_), false) {
    for (int64_t i = 0; i < places.type().shape.elements(); ++i) {
      const auto place = static_cast<int64_t>(places.at(i));
      if (place < batchSize_) { // data that does not fit has its own error
        at_[static_cast<size_t>(shuffled_ ? place % rowSize_ : place)] = true;
      }
    }
  }
  bool holds(int64_t element) const {
    return element < end_ && at_[static_cast<size_t>(element % (shuffled_ ? rowSize_ : batchSize_))];
  }

 private:
  int64_t rowSize_, batchSize_, end_;
  bool shuffled_;
  std::vector<bool> at_; // by place in a batch, or in a row where rows are shuffled
};

WrongIndex wrong(const Graph& graph, const IndexRange& range, int64_t element, double index) {
  const OpRow& row = graph[range.op];
  const auto message = [&](std::string_view what) {
    return fmt::format("element {} is {}, but op '{}' has {} {}, {} to {}", element, index,
                       graph.nameOf(range.op), range.end, what, range.least, range.end - 1);
  };
  switch (row.kind()) {
  case OpKind::SoftmaxCrossEntropy:
  case OpKind::SoftmaxCrossEntropyGradient:
    return {message("classes"), "labels are counted from 0; any other gives a loss that is NaN", true};
  case OpKind::OneHot: return {message("places"), "its row is all zeros", false};
  case OpKind::ScatterAdd: return {message("slices"), "its update is added nowhere", false};
  default: break;
  }
  const bool givesNan = isFloat(graph.typeOf(row.firstResult).element);
  return {message("slices to gather"),
          givesNan ? "indices are counted from 0, or below 0 from the end; any other gives NaN"
                   : "its slice is all zeros",
          givesNan};
}

} // namespace

std::optional<WrongIndex> wrongIndex(const Graph& graph, std::string_view input, const Literal& data,
                                     const RowsOfStep& taken) {
  std::optional<WrongIndex> found;
  const std::vector<IndexUse> uses = usesOf(graph, input);
  const ElementRange all = uses.empty() ? ElementRange() : dfc::rangeOf(data.type(), data.bytes());
  const int64_t elements = data.type().shape.elements();
  for (const IndexUse& use : uses) {
    if (elements == 0 || (use.range.holds(all.lowest) && use.range.holds(all.highest))) {
      continue;
    }
    const Taken isTaken(use.places, elements, taken);
    for (int64_t i = 0; i < elements; ++i) {
      if (isTaken.holds(i) && !use.range.holds(data.at(i))) {
        WrongIndex one = wrong(graph, use.range, i, data.at(i));
        if (!found || one.givesNan > found->givesNan) {
          found = std::move(one);
        }
        break;
      }
    }
  }
  return found;
}

} // namespace dfc::tool
