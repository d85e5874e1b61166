// Forward over the ops, with the places of an input's elements.
#include "runtime/indices/index_uses.h"

#include "ir/graph/rules/op_rules.h"
#include "ir/graph/whole_state.h"
#include "runtime/indices/nan_answers.h"
#include "runtime/indices/taken_elements.h"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>

namespace dfc {
namespace {

/// Counted from the end where negative.
IndexRange fromEitherEnd(OpId op, int64_t length) { return {op, -length, length}; }
/// The op's convention for indices out of range is one that a graph may count on.
IndexRange meant(IndexRange range) {
  range.refused = false;
  return range;
}

/// Of the op's operand `operand`, where that holds indices.
std::optional<IndexRange> rangeOf(const Graph& graph, OpId op, size_t operand) {
  const OpRow& row = graph[op];
  const Shape& first = graph.typeOf(row.operands[0]).shape;
  const auto along = [&](int64_t axis) { return first[*normalAxis(axis, first.rank())]; };
  if (const auto* gather = row.getIf<ops::Gather>(); gather != nullptr && operand == 1) {
    return fromEitherEnd(op, gather->part.lengthOf(along(gather->axis)));
  }
  if (const auto* scatter = row.getIf<ops::ScatterAdd>(); scatter != nullptr && operand == 1) {
    return meant(fromEitherEnd(op, scatter->part.lengthOf(along(scatter->axis))));
  }
  if (const auto* oneHot = row.getIf<ops::OneHot>()) {
    return meant(fromEitherEnd(op, oneHot->part.lengthOf(oneHot->depth)));
  }
  const bool takesLabels =
      row.kind() == OpKind::SoftmaxCrossEntropy || row.kind() == OpKind::SoftmaxCrossEntropyGradient;
  return takesLabels && operand == 1 ? std::optional(IndexRange{op, 0, first[1]}) : std::nullopt;
}

/// Whether the op is this input of the author's, or a part of it, and may feed indices.
bool feeds(const Graph& graph, OpId op, std::string_view input) {
  return authorNameOf(graph, op) == input && holdsIndices(graph.typeOf(graph[op].firstResult));
}

/// Values that hold elements of an input: as they are, or some of them replaced, which oneHot alone takes. In
/// both tables equal numbers stand for the same elements in the same order, 0 for none.
struct Held {
  explicit Held(const Graph& graph) : asTheyAre(graph.valueCount(), 0), replaced(asTheyAre) {}
  bool holds(ValueId value) const { return rowOf(value) != 0; }
  uint32_t rowOf(ValueId value) const { return std::max(asTheyAre[value], replaced[value]); }
  SideTable<ValueId, uint32_t> asTheyAre, replaced;
};

/// The operand of which the op replaces some elements by others: the ignored label by one that there is.
std::optional<ValueId> replacedBy(const Graph& graph, const OpRow& row, const Held& held) {
  const auto* fused = row.getIf<ops::Fused>();
  const bool mayReplace =
      row.kind() == OpKind::Select || (fused != nullptr && fused->reduction == ops::Fused::Reduction::None);
  if (!mayReplace || !holdsIndices(graph.typeOf(row.firstResult))) {
    return std::nullopt;
  }
  const auto found = llvm::find_if(row.operands, [&](ValueId operand) {
    return held.holds(operand) && graph.typeOf(operand) == graph.typeOf(row.firstResult);
  });
  return found == row.operands.end() ? std::nullopt : std::optional(*found);
}

/// A range of oneHot becomes that of labels where the graph answers others with NaN. Of two numbers one may
/// be the label that does not count.
void refuseWrongLabels(const Graph& graph, const NanAnswers& answers, ValueId operand, IndexRange& range) {
  const int64_t classes = range.end;
  const auto keeps = [&](int64_t label) {
    return answers.at(operand, static_cast<double>(label)) == static_cast<double>(label);
  };
  const auto isNan = [&](int64_t label) { return answers.isNan(static_cast<double>(label)); };
  const auto ofTwo = [](const auto& holds, int64_t a, int64_t b) { return holds(a) || holds(b); };
  if (graph[range.op].kind() != OpKind::OneHot || classes == 0 || !ofTwo(keeps, classes - 1, classes - 2) ||
      !ofTwo(isNan, classes, classes + 1) || !ofTwo(isNan, -1 - classes, -2 - classes) ||
      isNan(classes - 1)) {
    return;
  }
  range.refused = true;
  range.least = ofTwo(isNan, -1, -2) ? 0 : range.least;
  constexpr double mostExact = 0x1p53; // a fused body may compare labels beside numbers that are no integers
  for (const double number : answers.comparedWith()) {
    if (!(std::abs(number) <= mostExact)) {
      continue;
    }
    const auto label = static_cast<int64_t>(number);
    if (!range.holds(number) && !isNan(label)) {
      range.others.push_back(label);
    }
  }
}

/// An op that takes a value's elements for indices.
struct Taker {
  IndexRange range;
  ValueId operand;
};

/// All takers of an input's elements. Calls `pass(operand, result, elements)` for every result that holds
/// elements of an operand.
template <class Pass>
class Takers {
 public:
  Takers(const Graph& graph, std::string_view input, const Pass& pass)
      : graph_(graph), pass_(pass), held_(graph) {
    for (const OpId op : graph.ops()) {
      if (graph[op].kind() == OpKind::Input && feeds(graph, op, input)) {
        held_.asTheyAre[graph[op].firstResult] = ++last_;
      }
      note(op);
      passOn(op);
    }
    refuseLabels();
  }
  const std::vector<Taker>& all() const { return takers_; }

 private:
  void note(OpId op) {
    const OpRow& row = graph_[op];
    for (size_t i = 0; i < row.operands.size(); ++i) {
      const ValueId operand = row.operands[i];
      const bool isTaken =
          row.kind() == OpKind::OneHot ? held_.holds(operand) : held_.asTheyAre[operand] != 0;
      if (const auto range = isTaken ? rangeOf(graph_, op, i) : std::nullopt) {
        takers_.push_back({*range, operand});
      }
    }
  }

  void passOn(OpId op) {
    const OpRow& row = graph_[op];
    for (uint32_t i = 0; i < row.resultCount && !row.operands.empty() && held_.holds(row.operands[0]); ++i) {
      if (const auto elements = takenBy(graph_, op, i)) {
        const ValueId from = row.operands[0], to(row.firstResult.index() + i);
        auto& table = held_.asTheyAre[from] != 0 ? held_.asTheyAre : held_.replaced;
        table[to] = keepsOrder(graph_, op) ? held_.rowOf(from) : ++last_;
        pass_(from, to, *elements);
      }
    }
    if (const auto from = replacedBy(graph_, row, held_)) {
      held_.replaced[row.firstResult] = held_.rowOf(*from);
      pass_(*from, row.firstResult, allOf(graph_.typeOf(*from).shape));
    }
  }

  void refuseLabels() {
    std::map<uint32_t, NanAnswers> answers; // by row
    for (auto& [range, operand] : takers_) {
      const uint32_t row = held_.rowOf(operand);
      const auto asked = answers.try_emplace(row, graph_, held_.asTheyAre, row).first;
      refuseWrongLabels(graph_, asked->second, operand, range);
    }
    llvm::erase_if(takers_, [&](const Taker& taker) { // what a computed index names is the graph's own affair
      return held_.replaced[taker.operand] != 0 && !taker.range.refused;
    });
  }

  const Graph& graph_;
  const Pass& pass_;
  Held held_;
  uint32_t last_ = 0; ///< row of elements
  std::vector<Taker> takers_;
};

/// What the two have in common.
void narrow(IndexRange& range, const IndexRange& by) {
  const IndexRange before = range;
  range.least = std::max(range.least, by.least);
  range.end = std::min(range.end, by.end);
  range.others.insert(range.others.end(), by.others.begin(), by.others.end());
  llvm::erase_if(range.others, [&](int64_t other) {
    const auto label = static_cast<double>(other);
    return !before.holds(label) || !by.holds(label);
  });
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
  const auto pass = [&](ValueId from, ValueId to, const Strided& elements) {
    places[to] = placesTaken(*places[from], graph.typeOf(to).shape, elements);
  };
  const Takers takers(graph, input, pass);
  std::vector<IndexUse> uses;
  for (const Taker& taker : takers.all()) {
    uses.push_back({taker.range, *places[taker.operand]});
  }
  return uses;
}

std::vector<std::pair<std::string, IndexRange>> refusedRanges(const Graph& graph) {
  std::vector<std::string_view> inputs;
  for (const OpId op : graph.opsOf(OpKind::Input)) {
    const std::string_view name = authorNameOf(graph, op);
    if (feeds(graph, op, name) && !llvm::is_contained(inputs, name)) {
      inputs.push_back(name);
    }
  }
  std::vector<std::pair<std::string, IndexRange>> all;
  for (const std::string_view input : inputs) {
    std::optional<IndexRange> common;
    const auto pass = [](ValueId, ValueId, const Strided&) {};
    const Takers takers(graph, input, pass);
    for (const Taker& taker : takers.all()) {
      if (taker.range.refused && common) {
        narrow(*common, taker.range);
      } else if (taker.range.refused) {
        common = taker.range;
      }
    }
    if (common) {
      all.emplace_back(input, *common);
    }
  }
  return all;
}

} // namespace dfc
