#include "compiler/split/choose_split.h"

#include "compiler/split/eliminate.h"
#include "compiler/split/relayout.h"
#include "ir/graph/rewriter.h"

#include <llvm/ADT/STLExtras.h>

#include <cmath>
#include <limits>

namespace dfc {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

/// What reaches a device, on average over the mesh: bytes as a multiple of the value's, and transfers, each
/// of which holds a link for its latency.
struct Traffic {
  double values = 0;
  double transfers = 0;
};

Traffic trafficOf(const Layout& from, const Layout& to, double k) {
  using Form = Layout::Form;
  const double others = (k - 1) / k;
  switch (to.form) {
  case Form::Partial: return {never, 0};
  case Form::OnOne: return {from.isPartial() ? others : others / k, others};
  case Form::OnAll: return {others, from.form == Form::OnOne ? others : k - 1};
  case Form::Cut: return {from.isPartial() ? others : others / k, from.form == Form::OnOne ? others : k - 1};
  }
  DFC_UNREACHABLE("a layout of another form");
}

/// Builds the problem of one price, reads back its answer.
class ProblemMaker {
 public:
  ProblemMaker(const Graph& graph, const Mesh& mesh, const SideTable<OpId, std::vector<OpOption>>& options,
               const SideTable<OpId, std::vector<double>>& seconds, double price)
      : graph_(graph), mesh_(mesh), options_(options), seconds_(seconds), price_(price) {}

  /// Data parallelism: inputs cut along their first axis, and each op as its operands are cut. Behind `make`.
  std::vector<uint32_t> followInputs(const ChoiceProblem& problem) const {
    std::vector<uint32_t> fixed(problem.options.size(), undecided), order;
    size_t next = 0;
    for (const OpId op : graph_.ops()) {
      const bool isInput = graph_[op].kind() == OpKind::Input;
      if (isInput && options_[op].front().form == OpOption::Form::Parts) {
        fixed[op.index()] = 0;
      }
      if (isInput || classOf(graph_[op].kind()) != OpClass::Source) {
        order.push_back(op.index());
      }
      for (; next < brought_.size() && brought_[next].first == op; ++next) {
        if (order.size() > 0 && order.back() == op.index()) {
          order.push_back(brought_[next].second);
        }
      }
    }
    return chooseInOrder(problem, order, std::move(fixed));
  }

  ChoiceProblem make() {
    for (const OpId op : graph_.ops()) {
      problem_.addVariable(options_[op].size());
      problem_.tables.push_back({{op.index()}, seconds_[op]});
    }
    SideTable<ValueId, std::vector<Read>> reads(graph_.valueCount());
    for (const OpId op : graph_.ops()) {
      const OpRow& row = graph_[op];
      for (uint32_t i = 0; i < row.operands.size(); ++i) {
        if (row.kind() == OpKind::Assign && i == 0) {
          tieAssign(op);
        } else {
          reads[row.operands[i]].push_back({op, i});
        }
      }
    }
    for (const OpId op : graph_.ops()) {
      for (const ValueId value : graph_[op].results()) {
        addReads(value, op, reads[value]);
      }
    }
    return std::move(problem_);
  }

 private:
  struct Read {
    OpId op;
    uint32_t operand;
  };

  // A parameter and the op that writes it have one layout.
  void tieAssign(OpId assign) {
    const OpId parameter = graph_[graph_[assign].operands[0]].producer;
    addPair(parameter.index(), assign.index(), options_[parameter], options_[assign],
            [](const OpOption& a, const OpOption& b) { return a.results[0] == b.operands[0] ? 0 : never; });
  }

  double price(const Layout& from, const Layout& to, const TensorType& type) const {
    const double seconds = relayoutSeconds(from, to, type, mesh_);
    return std::isfinite(seconds) ? price_ * seconds : never;
  }

  // A value of several readers has a variable of its own, the layout that it is brought into: what is sent
  // once serves all readers.
  void addReads(ValueId value, OpId producer, llvm::ArrayRef<Read> reads) {
    const size_t result = value.index() - graph_[producer].firstResult.index();
    const TensorType& type = graph_.typeOf(value);
    if (reads.size() == 1) {
      const Read read = reads.front();
      addPair(producer.index(), read.op.index(), options_[producer], options_[read.op],
              [&](const OpOption& a, const OpOption& b) {
                return price(a.results[result], b.operands[read.operand], sentType(producer, read.op, type));
              });
      return;
    }
    if (reads.empty()) {
      return;
    }
    if (graph_[producer].kind() == OpKind::Parameter) { // its readers have replicas of their own types
      for (const Read& read : reads) {
        addReads(value, producer, read);
      }
      return;
    }
    const std::vector<Layout> layouts = layoutsOf(producer, result, reads);
    const uint32_t brought = problem_.addVariable(layouts.size());
    brought_.push_back({producer, brought});
    addPair(producer.index(), brought, options_[producer], layouts,
            [&](const OpOption& a, const Layout& b) { return price(a.results[result], b, type); });
    for (const Read& read : reads) {
      addPair(brought, read.op.index(), layouts, options_[read.op], [&](const Layout& a, const OpOption& b) {
        return price(a, b.operands[read.operand], sentType(producer, read.op, type));
      });
    }
  }

  // A cast of a parameter to fewer bits is a replica of it, which its update writes (compiler/transfer):
  // what is sent has the cast's type.
  const TensorType& sentType(OpId producer, OpId reader, const TensorType& type) const {
    const TensorType& cast = graph_.typeOf(graph_[reader].firstResult);
    const bool replica =
        graph_[producer].kind() == OpKind::Parameter && graph_[reader].kind() == OpKind::Cast;
    return replica && cast.bytes() < type.bytes() ? cast : type;
  }

  std::vector<Layout> layoutsOf(OpId producer, size_t result, llvm::ArrayRef<Read> reads) const {
    std::vector<Layout> layouts;
    const auto note = [&](const Layout& layout) {
      if (!llvm::is_contained(layouts, layout)) {
        layouts.push_back(layout);
      }
    };
    for (const OpOption& option : options_[producer]) {
      note(option.results[result]);
    }
    for (const Read& read : reads) {
      for (const OpOption& option : options_[read.op]) {
        note(option.operands[read.operand]);
      }
    }
    return layouts;
  }

  template <class A, class B, class Cost>
  void addPair(uint32_t a, uint32_t b, const A& optionsOfA, const B& optionsOfB, Cost cost) {
    ChoiceTable table{{a, b}, {}};
    table.costs.reserve(optionsOfA.size() * optionsOfB.size());
    for (const auto& one : optionsOfA) {
      for (const auto& other : optionsOfB) {
        table.costs.push_back(cost(one, other));
      }
    }
    problem_.tables.push_back(std::move(table));
  }

  const Graph& graph_;
  const Mesh& mesh_;
  const SideTable<OpId, std::vector<OpOption>>& options_;
  const SideTable<OpId, std::vector<double>>& seconds_;
  double price_;
  ChoiceProblem problem_;
  std::vector<std::pair<OpId, uint32_t>> brought_; // producers and the variables of what they give
};

/// A graph of parts of ops, each with inputs of its own, so that the cost model can be asked what they take.
class PartCosts {
 public:
  explicit PartCosts(const Graph& graph) : graph_(graph), builder_("parts") {}

  /// The index of an op of the parts' graph: position 0 to `share` of the factor.
  OpId add(OpId op, const SplitFactor& factor, double share) {
    const auto positions =
        std::max<int64_t>(1, static_cast<int64_t>(share * static_cast<double>(factor.extent) + 0.5));
    const auto operandTypes = graph_.operandTypesOf(op), resultTypes = graph_.resultTypesOf(op);
    const SplitPart part{factor, {0, positions}, operandTypes, resultTypes};
    llvm::SmallVector<ValueId, 4> operands;
    for (size_t i = 0; i < operandTypes.size(); ++i) {
      operands.push_back(inputOf(part.operandType(i)));
    }
    return builder_.append(partOf(graph_[op].attributes, part), operands, {});
  }

  Graph finish() && {
    auto made = std::move(builder_).finish();
    DFC_ASSERT(made.ok(), "a part of an op is ill-typed: " + render(made.errors()));
    return *std::move(made);
  }

 private:
  ValueId inputOf(const TensorType& type) {
    ops::Input input;
    input.type = type;
    return builder_.result(builder_.append(input, {}, {}));
  }

  const Graph& graph_;
  GraphBuilder builder_;
};

bool takesTime(OpKind kind) { return classOf(kind) != OpClass::Source && classOf(kind) != OpClass::State; }

} // namespace

double relayoutSeconds(const Layout& from, const Layout& to, const TensorType& type, const Mesh& mesh) {
  if (from == to) {
    return 0;
  }
  if (from.form == Layout::Form::OnAll) { // sliced there; the shares of a sum are the value and zeros
    return to.isPartial() && to.combine != SplitKind::Sum ? never : 0;
  }
  const auto seconds = [&](double bytes) { return mesh.bandwidth > 0 ? bytes / mesh.bandwidth : 0; };
  const auto bytes = static_cast<double>(type.bytes());
  if (from.isPartial() && to.form == Layout::Form::OnAll) {
    const auto k = static_cast<double>(mesh.size());
    return isSmall(type) ? seconds(bytes * std::log2(k)) // in a bucket with others
                         : cheapestSum(type.bytes(), true, mesh).seconds;
  }
  const Traffic traffic = trafficOf(from, to, static_cast<double>(mesh.size()));
  return std::isfinite(traffic.values)
             ? traffic.transfers * mesh.latencySeconds + seconds(traffic.values * bytes)
             : never;
}

SplitChoices::SplitChoices(const Graph& graph, const Mesh& mesh, const Machine& machine,
                           const CostModel& cost, OptionSpace space)
    : graph_(graph), mesh_(mesh), options_(graph.opCount()), seconds_(graph.opCount()) {
  addPrices(machine, cost, space);
}

void SplitChoices::addPrices(const Machine& machine, const CostModel& cost, OptionSpace space) {
  const SideTable<OpId, bool> one = opsForOne(graph_, mesh_.size());
  const DeviceId device = mesh_.devices.front();
  const double share = mesh_.shares.front(), even = 1.0 / static_cast<double>(mesh_.size());
  PartCosts parts(graph_);
  SideTable<OpId, std::vector<OpId>> partOps(graph_.opCount());
  for (const OpId op : graph_.ops()) {
    const SplitRule rule = ruleOf(graph_, op);
    options_[op] = optionsOf(graph_, op, rule, {mesh_.shares, one[op], space});
    for (const OpOption& option : options_[op]) {
      partOps[op].push_back(takesTime(graph_[op].kind()) && option.form == OpOption::Form::Parts
                                ? parts.add(op, rule.factors[option.factor], share)
                                : OpId());
    }
  }
  const Graph made = std::move(parts).finish();
  for (const OpId op : graph_.ops()) {
    const double whole = cost.opSeconds(graph_, op, machine, device);
    for (size_t i = 0; i < options_[op].size(); ++i) {
      const OpId part = partOps[op][i];
      seconds_[op].push_back(part.valid() ? cost.opSeconds(made, part, machine, device)
                             : options_[op][i].form == OpOption::Form::OnOne ? whole * even
                                                                             : whole);
    }
  }
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

SplitPlan SplitChoices::choose(double price) const { return chosen(seconds_, price); }

SplitPlan SplitChoices::chooseBy(llvm::function_ref<double(OpId, size_t)> seconds) const {
  SideTable<OpId, std::vector<double>> given(graph_.opCount());
  for (const OpId op : graph_.ops()) {
    for (size_t option = 0; option < options_[op].size(); ++option) {
      given[op].push_back(seconds(op, option));
    }
  }
  return chosen(given, 0);
}

SplitPlan SplitChoices::chosen(const SideTable<OpId, std::vector<double>>& seconds, double price) const {
  ProblemMaker maker(graph_, mesh_, options_, seconds, price);
  const ChoiceProblem problem = maker.make();
  const ChoiceResult answer = minimise(problem, {maker.followInputs(problem)});
  SplitPlan plan{mesh_, SideTable<OpId, OpOption>(graph_.opCount()), answer.cost, answer.exact,
                 price, SideTable<OpId, double>(graph_.opCount(), 0)};
  for (const OpId op : graph_.ops()) {
    plan.option[op] = options_[op][answer.option[op.index()]];
    plan.opSeconds[op] = seconds[op][answer.option[op.index()]];
  }
  return plan;
}

} // namespace dfc
