#include "compiler/split/choose_split.h"

#include "compiler/split/choice/minimise.h"
#include "compiler/split/sum_form.h"
#include "ir/graph/micro_batch.h"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>

namespace dfc {
namespace {

/// Parts of an op in the parts' graph; invalid: none.
struct PricedPart {
  OpId first, last;
};

/// A graph of parts of ops, each with inputs of its own, so that the cost model can be asked what they take.
class PartCosts {
 public:
  explicit PartCosts(const Graph& graph) : graph_(graph), builder_("parts") {}

  /// Appends `share` of the factor's positions: the first and, as parts of equal length may take unlike times
  /// (late queries of causal attention see more keys), the last.
  PricedPart add(OpId op, const SplitFactor& factor, double share) {
    const auto positions =
        std::max<int64_t>(1, static_cast<int64_t>(share * static_cast<double>(factor.extent) + 0.5));
    return {append(op, factor, {0, positions}),
            dependsOnPlace(graph_[op].kind()) ? append(op, factor, {factor.extent - positions, factor.extent})
                                              : OpId()};
  }

  Graph finish() && {
    auto made = std::move(builder_).finish();
    DFC_ASSERT(made.ok(), "a part of an op is ill-typed: " + render(made.errors()));
    return *std::move(made);
  }

 private:
  static bool dependsOnPlace(OpKind kind) {
    return kind == OpKind::Attention || kind == OpKind::AttentionGradient;
  }

  OpId append(OpId op, const SplitFactor& factor, SplitRange range) {
    const auto operandTypes = graph_.operandTypesOf(op), resultTypes = graph_.resultTypesOf(op);
    const SplitPart part{factor, range, operandTypes, resultTypes};
    llvm::SmallVector<ValueId, 4> operands;
    for (size_t i = 0; i < operandTypes.size(); ++i) {
      operands.push_back(inputOf(part.operandType(i)));
    }
    return builder_.append(partOf(graph_[op].attributes, part), operands, {});
  }

  ValueId inputOf(const TensorType& type) {
    ops::Input input;
    input.type = type;
    return builder_.result(builder_.append(input, {}, {}));
  }

  const Graph& graph_;
  GraphBuilder builder_;
};

bool takesTime(OpKind kind) { return classOf(kind) != OpClass::Source && classOf(kind) != OpClass::State; }

// The first of equally cheap options is chosen. The split within a group cuts updates along their first axis;
// where the groups cut another, each device of a group exchanges its part with one device of every other
// group.
void putFirstAxisLast(std::vector<OpOption>& options) {
  const auto end =
      llvm::find_if(options, [](const OpOption& one) { return one.form != OpOption::Form::Parts; });
  if (end != options.begin()) {
    std::rotate(options.begin(), options.begin() + 1, end);
  }
}

} // namespace

SplitChoices::SplitChoices(const Graph& graph, const Mesh& mesh, const Machine& machine,
                           const CostModel& cost, OptionSpace space)
    : SplitChoices(graph, mesh, Rows(), machine, cost, space) {}

SplitChoices::SplitChoices(const Graph& graph, const Mesh& mesh, Rows rows, const Machine& machine,
                           const CostModel& cost, OptionSpace space)
    : graph_(graph), mesh_(mesh), rows_(std::move(rows)), options_(graph.opCount()),
      seconds_(graph.opCount()), isHeld_(graph.opCount(), false), inMicroBatch_(graph.opCount(), false) {
  findHeld();
  addPrices(machine, cost, space);
}

void SplitChoices::addPrices(const Machine& machine, const CostModel& cost, OptionSpace space) {
  const WholeOps whole = wholeOps(graph_, mesh_);
  const DeviceId device = mesh_.devices.front();
  const double share = mesh_.shares.front(), even = 1.0 / static_cast<double>(mesh_.size());
  PartCosts parts(graph_);
  SideTable<OpId, std::vector<PricedPart>> partOps(graph_.opCount());
  const auto comesCut = [&](ValueId value, size_t axis) {
    const bool isSmallInput =
        graph_[graph_[value].producer].kind() == OpKind::Input && isSmall(graph_.typeOf(value));
    return !isSmallInput && llvm::is_contained(axesOf(value), axis);
  };
  for (const OpId op : graph_.ops()) {
    const SplitRule rule = ruleOf(graph_, op);
    OptionLimits limits{mesh_.shares, whole.onOne[op], whole.onAll[op], space};
    if (!whole.update[op]) {
      limits.comesCut = comesCut;
    }
    const OpKind kind = graph_[op].kind();
    if (space == OptionSpace::OfGroups || space == OptionSpace::OfGroupsInParts) {
      const bool isState = kind == OpKind::Assign || kind == OpKind::Parameter;
      limits.mayBeOnOne = limits.mayBeOnOne && (kind == OpKind::Input || kind == OpKind::Custom);
      limits.mayBeInParts = space == OptionSpace::OfGroupsInParts || !isState || !whole.onAll[op];
    }
    options_[op] = isOnOneDevice(op) ? std::vector{wholeOption(graph_, op, OpOption::Form::OnOne)}
                                     : optionsOf(graph_, op, rule, limits);
    if (whole.update[op] && space != OptionSpace::Useful && space != OptionSpace::All) {
      putFirstAxisLast(options_[op]);
    }
    if (rows_.inputsInParts && kind == OpKind::Input && options_[op].front().form == OpOption::Form::Parts) {
      llvm::erase_if(options_[op], [](const OpOption& one) { return one.form != OpOption::Form::Parts; });
    }
    for (const OpOption& option : options_[op]) {
      partOps[op].push_back(takesTime(graph_[op].kind()) && option.form == OpOption::Form::Parts
                                ? parts.add(op, rule.factors[option.factor], share)
                                : PricedPart());
    }
  }
  const Graph made = std::move(parts).finish();
  for (const OpId op : graph_.ops()) {
    const double seconds = cost.opSeconds(graph_, op, machine, device);
    for (size_t i = 0; i < options_[op].size(); ++i) {
      const auto& [first, last] = partOps[op][i];
      const auto priced = [&](OpId part) { return cost.opSeconds(made, part, machine, device); };
      seconds_[op].push_back(first.valid() ? std::max(priced(first), last.valid() ? priced(last) : 0)
                             : options_[op][i].form == OpOption::Form::OnOne ? seconds * even
                                                                             : seconds);
    }
  }
}

// Whether the op's row is one device.
bool SplitChoices::isOnOneDevice(OpId op) const {
  return !rows_.devices.empty() && graph_[op].kind() != OpKind::Input && rows_.isOneDevice(rows_.of[op]);
}

bool SplitChoices::require(ValueId value, size_t axis) {
  const OpId op = graph_[value].producer;
  const size_t result = value.index() - graph_[op].firstResult.index();
  std::vector<OpOption> options;
  std::vector<double> seconds;
  for (size_t i = 0; i < options_[op].size(); ++i) {
    if (options_[op][i].results[result] == Layout::cut(axis)) {
      options.push_back(options_[op][i]);
      seconds.push_back(seconds_[op][i]);
    }
  }
  if (options.empty()) {
    return false;
  }
  options_[op] = std::move(options);
  seconds_[op] = std::move(seconds);
  return true;
}

std::vector<size_t> SplitChoices::axesOf(ValueId value) const {
  const OpId op = graph_[value].producer;
  const size_t result = value.index() - graph_[op].firstResult.index();
  std::vector<size_t> axes;
  for (const OpOption& option : options_[op]) {
    const Layout& layout = option.results[result];
    if (layout.isCut() && !llvm::is_contained(axes, size_t{layout.axis})) {
      axes.push_back(layout.axis);
    }
  }
  return axes;
}

SplitPlan SplitChoices::choose(const SplitPrices& prices) const {
  SideTable<OpId, std::vector<double>> seconds = seconds_;
  for (const OpId op : graph_.ops()) {
    for (size_t i = 0; i < seconds[op].size(); ++i) {
      const OpOption& option = options_[op][i];
      seconds[op][i] *= option.form == OpOption::Form::Linear ? prices.beforeSum : 1;
      seconds[op][i] *= inMicroBatch_[op] ? prices.microBatches : 1;
      seconds[op][i] += prices.byte * heldBytes(op, option);
    }
  }
  SplitPlan plan = chosen(seconds, prices);
  plan.gathers = prices.byte > 0;
  return plan;
}

// Values with a producer in a micro-batch and a reader outside, such as sums of gradients, or the other way
// round, such as gathered weights. Partial sums over the first micro-batches share the bytes of the whole
// sum.
void SplitChoices::findHeld() {
  for (const OpId op : graph_.ops()) {
    inMicroBatch_[op] = microBatchOf(graph_.scopeOf(op)).has_value();
  }
  for (const OpId reader : graph_.ops()) {
    for (const ValueId operand : graph_[reader].operands) {
      const OpId producer = graph_[operand].producer;
      const OpClass kind = classOf(graph_[producer].kind());
      const bool isHeld = inMicroBatch_[producer] != inMicroBatch_[reader] && kind != OpClass::Source &&
                          kind != OpClass::State;
      isHeld_[producer] = isHeld_[producer] || isHeld;
    }
  }
}

// Bytes on a device of what an op holds for a step: a parameter, its rounded copy (compiler/transfer), or
// what a micro-batch leaves.
double SplitChoices::heldBytes(OpId op, const OpOption& option) const {
  const OpRow& row = graph_[op];
  const bool rounded =
      row.kind() == OpKind::Cast && graph_[graph_[row.operands[0]].producer].kind() == OpKind::Parameter;
  if (row.kind() != OpKind::Parameter && !rounded && !isHeld_[op]) {
    return 0;
  }
  double bytes = 0;
  for (uint32_t i = 0; i < row.resultCount; ++i) {
    const auto all = static_cast<double>(graph_.typeOf(ValueId(row.firstResult.index() + i)).bytes());
    const Layout& layout = option.results[i];
    const bool isWhole = layout == Layout::onAll() || layout.isPartial();
    bytes += isWhole ? all : all / static_cast<double>(mesh_.size());
  }
  return bytes;
}

SplitPlan SplitChoices::chooseBy(llvm::function_ref<double(OpId, size_t)> seconds) const {
  SideTable<OpId, std::vector<double>> given(graph_.opCount());
  for (const OpId op : graph_.ops()) {
    for (size_t option = 0; option < options_[op].size(); ++option) {
      given[op].push_back(seconds(op, option));
    }
  }
  return chosen(given, {.link = 0});
}

SplitPlan SplitChoices::chosen(const SideTable<OpId, std::vector<double>>& seconds,
                               const SplitPrices& prices) const {
  const PricedOptions given{
      graph_,      mesh_,        options_, seconds,
      prices.link, prices.feeds, &rows_,   {&inMicroBatch_, prices.microBatches, prices.byte}};
  const SplitProblem problem = splitProblem(given);
  const ChoiceResult answer = minimise(problem.choice, {followInputs(problem, given)});
  SplitPlan plan = planOf(answer.option, prices.link, answer.cost);
  plan.exact = answer.exact;
  for (const OpId op : graph_.ops()) {
    plan.opSeconds[op] = seconds[op][answer.option[op.index()]];
  }
  return plan;
}

SplitProblem SplitChoices::problemAt(double price) const {
  return splitProblem({graph_, mesh_, options_, seconds_, price, 1, &rows_});
}

SplitPlan SplitChoices::planOf(llvm::ArrayRef<uint32_t> option, double price, double seconds) const {
  SplitPlan plan{mesh_, SideTable<OpId, OpOption>(graph_.opCount()),  seconds, false,
                 price, SideTable<OpId, double>(graph_.opCount(), 0), rows_,   false};
  for (const OpId op : graph_.ops()) {
    plan.option[op] = options_[op][option[op.index()]];
    plan.opSeconds[op] = seconds_[op][option[op.index()]];
  }
  return plan;
}

} // namespace dfc
