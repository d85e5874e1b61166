#include "compiler/split/pipeline/batch_choices.h"

#include "compiler/split/split_ranges.h"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <limits>

namespace dfc {
namespace {

constexpr size_t impossible = std::numeric_limits<size_t>::max();

} // namespace

int64_t batchLength(const Graph& graph) {
  int64_t most = 0, batch = 0;
  for (const OpId op : graph.opsOf(OpKind::Input)) {
    const TensorType& type = graph.typeOf(graph[op].firstResult);
    if (type.shape.rank() > 0 && type.bytes() > most) {
      most = type.bytes();
      batch = type.shape[0];
    }
  }
  return batch;
}

BatchChoices::BatchChoices(const Graph& graph, size_t count)
    : graph_(graph), shares_(count, 1.0 / static_cast<double>(count)), batch_(batchLength(graph)),
      choices_(graph.opCount()), layouts_(graph.valueCount(), Layout::onAll()), ranges_(graph.valueCount()),
      joined_(graph.valueCount(), false), accumulated_(graph.valueCount(), false) {}

void BatchChoices::choose() {
  for (const OpId op : graph_.ops()) {
    choose(op);
    any_ = any_ || (!choices_[op].whole && graph_[op].kind() != OpKind::Input);
  }
  for (const Fetch& fetch : graph_.fetches()) {
    joined_[fetch.value] = true;
  }
}

void BatchChoices::choose(OpId op) {
  const OpRow& row = graph_[op];
  BatchChoice& choice = choices_[op];
  const auto inParts = [&](ValueId value) { return layouts_[value] != Layout::onAll(); };
  if (row.kind() == OpKind::Input
          ? isOfBatch(op)
          : classOf(row.kind()) != OpClass::State && llvm::any_of(row.operands, inParts)) {
    findOption(op, choice);
  }
  if (choice.whole) {
    for (const ValueId operand : row.operands) {
      choice.joins.push_back(inParts(operand));
    }
  }
  for (size_t i = 0; i < row.operands.size(); ++i) {
    const ValueId operand = row.operands[i];
    joined_[operand] = joined_[operand] || choice.joins[i];
    const bool waits = choice.joins[i] || accumulated_[operand];
    choice.phase = std::max(choice.phase, choices_[graph_[operand].producer].phase + (waits ? 1 : 0));
  }
  for (uint32_t i = 0; i < row.resultCount && !choice.whole; ++i) {
    const ValueId result(row.firstResult.index() + i);
    if (choice.accumulator) {
      accumulated_[result] = true;
      continue;
    }
    layouts_[result] = choice.option.results[i];
    if (layouts_[result].isCut()) {
      const SplitRule rule = ruleOf(graph_, op);
      for (const SplitRange& range : choice.positions) {
        ranges_[result].push_back(rule.factors[choice.option.factor].results[i].elements(range));
      }
    }
  }
}

bool BatchChoices::isEven() const {
  const bool divides = batch_ % static_cast<int64_t>(count()) == 0;
  return divides && llvm::all_of(ranges_.ids(), [&](ValueId value) {
           const std::vector<SplitRange>& pieces = ranges_[value];
           return !joined_[value] || llvm::all_of(pieces, [&](const SplitRange& piece) {
             return piece.size() == pieces.front().size();
           });
         });
}

bool BatchChoices::isOfBatch(OpId input) const {
  const Shape& shape = graph_.typeOf(graph_[input].firstResult).shape;
  return shape.rank() > 0 && shape[0] == batch_ && batch_ >= static_cast<int64_t>(count());
}

// The option with the fewest joins of pieces, then of sums, if it uses an operand in parts as it is.
void BatchChoices::findOption(OpId op, BatchChoice& choice) const {
  const OptionLimits limits{shares_, false, false, OptionSpace::All};
  const SplitRule rule = ruleOf(graph_, op);
  size_t least = impossible;
  for (OpOption& option : optionsOf(graph_, op, rule, limits)) {
    BatchChoice tried{false, std::move(option)};
    const size_t joins = fill(op, rule, tried);
    if (joins < least) {
      least = joins;
      choice = std::move(tried);
    }
  }
}

size_t BatchChoices::fill(OpId op, const SplitRule& rule, BatchChoice& choice) const {
  const OpRow& row = graph_[op];
  const OpOption& option = choice.option;
  if (option.form == OpOption::Form::Parts) {
    if (row.kind() == OpKind::Input && option.results[0] != Layout::cut(0)) {
      return impossible;
    }
    choice.positions = positionsOf(op, option, rule.factors[option.factor]);
    if (!partsAreTyped(graph_, op, rule.factors[option.factor], choice.positions)) {
      return impossible;
    }
  } else if (row.kind() != OpKind::Cast && row.kind() != OpKind::Transpose &&
             classOf(row.kind()) != OpClass::View) {
    // Only ops that change a sum's type or shape run on partial sums: others, on tensors as large as
    // parameters, would run once per micro-batch.
    return impossible;
  }
  constexpr size_t ofPieces = 100;
  size_t joins = 0;
  bool usesPart = row.kind() == OpKind::Input;
  for (size_t i = 0; i < row.operands.size(); ++i) {
    const Layout &have = layouts_[row.operands[i]], &want = option.operands[i];
    if (want.isPartial() && have == Layout::onAll() && mayAccumulate(op, i)) {
      choice.accumulator = i;
      choice.joins.push_back(false);
      continue;
    }
    if (want.isPartial() && have != want) {
      return impossible;
    }
    const bool asItIs = have == want && (!have.isCut() || hasPieces(row.operands[i], choice, rule, i));
    choice.joins.push_back(!asItIs && have != Layout::onAll());
    usesPart = usesPart || (asItIs && have != Layout::onAll());
    joins += !choice.joins.back() ? 0 : have.isCut() ? ofPieces : 1;
  }
  return usesPart ? joins : impossible;
}

// An embedding's gradient: each micro-batch adds its updates to the same table. Sums of 16-bit types are
// taken in f32, not so.
bool BatchChoices::mayAccumulate(OpId op, size_t operand) const {
  return graph_[op].kind() == OpKind::ScatterAdd && operand == 0 &&
         !isNarrow(graph_.typeOf(graph_[op].operands[operand]).element);
}

// Those of the first operand that is cut as the option asks, where its pieces are positions; else of equal
// length.
std::vector<SplitRange> BatchChoices::positionsOf(OpId op, const OpOption& option,
                                                  const SplitFactor& factor) const {
  for (size_t i = 0; i < graph_[op].operands.size(); ++i) {
    const ValueId operand = graph_[op].operands[i];
    const SplitAxis& at = factor.operands[i];
    if (layouts_[operand].isCut() && layouts_[operand] == option.operands[i] &&
        at.form == SplitAxis::Form::Forward) {
      std::vector<SplitRange> positions;
      int64_t begin = 0;
      for (const SplitRange& piece : ranges_[operand]) {
        const int64_t end = (piece.end + at.low) / at.stride;
        positions.push_back({begin, end});
        begin = end;
      }
      if (begin == factor.extent &&
          llvm::all_of(positions, [](const SplitRange& range) { return range.size() > 0; })) {
        return positions;
      }
    }
  }
  return rangesOf(factor.extent, shares_);
}

bool BatchChoices::hasPieces(ValueId operand, const BatchChoice& choice, const SplitRule& rule,
                             size_t i) const {
  const SplitAxis& at = rule.factors[choice.option.factor].operands[i];
  for (size_t part = 0; part < count(); ++part) {
    if (at.elements(choice.positions[part]) != ranges_[operand][part]) {
      return false;
    }
  }
  return true;
}

} // namespace dfc
