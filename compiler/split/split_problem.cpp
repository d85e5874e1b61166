#include "compiler/split/split_problem.h"

#include "compiler/split/choice/minimise.h"
#include "compiler/split/relayout_seconds.h"
#include "compiler/split/tied_ops.h"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <cmath>

namespace dfc {
namespace {

class Maker {
 public:
  explicit Maker(const PricedOptions& given)
      : graph_(given.graph), mesh_(given.mesh), options_(given.options), seconds_(given.seconds),
        price_(given.price), feeds_(given.feeds), rows_(given.rows), batches_(given.batches) {}

  SplitProblem make() {
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
    if (rows_ != nullptr && !rows_->devices.empty()) {
      tieRows();
    }
    return {std::move(problem_), std::move(brought_)};
  }

 private:
  struct Read {
    OpId op;
    uint32_t operand;
  };

  void tieRows() {
    const auto same = [](const OpOption& a, const OpOption& b) {
      return a.form == b.form && a.factor == b.factor && a.operands == b.operands;
    };
    for (const auto& [a, b] : tiedOps(graph_, *rows_)) {
      const bool haveOneInCommon = llvm::any_of(options_[a], [&](const OpOption& one) {
        return llvm::any_of(options_[b], [&](const OpOption& other) { return same(one, other); });
      });
      if (haveOneInCommon) {
        addPair(a.index(), b.index(), options_[a], options_[b],
                [&](const OpOption& one, const OpOption& other) { return same(one, other) ? 0 : never; });
      }
    }
  }

  // A parameter and the op that writes it have one layout.
  void tieAssign(OpId assign) {
    const OpId parameter = graph_[graph_[assign].operands[0]].producer;
    addPair(parameter.index(), assign.index(), options_[parameter], options_[assign],
            [](const OpOption& a, const OpOption& b) { return a.results[0] == b.operands[0] ? 0 : never; });
  }

  double price(OpId producer, const Layout& from, const Layout& to, const TensorType& type) const {
    const double seconds = relayoutSeconds(from, to, type, mesh_);
    const double price = graph_[producer].kind() == OpKind::Input ? price_ * feeds_ : price_;
    return std::isfinite(seconds) ? price * seconds : never;
  }

  bool isOfBatch(OpId op) const { return batches_.holds != nullptr && (*batches_.holds)[op]; }

  // How often a value is sent to a reader in a step.
  double times(OpId producer, OpId reader) const {
    return isOfBatch(producer) && isOfBatch(reader) ? batches_.each : 1;
  }

  // Price of what is made of a value for all micro-batches, such as a gathered weight in 16 bits, and held
  // until the last one has read it. Parameters themselves are gathered anew for each reader.
  double holding(OpId producer, OpId reader, const Layout& from, const Layout& to,
                 const TensorType& type) const {
    const bool isHeld = batches_.byte > 0 && isOfBatch(reader) && !isOfBatch(producer) && from != to &&
                        classOf(graph_[producer].kind()) != OpClass::Source &&
                        classOf(graph_[producer].kind()) != OpClass::State;
    const double part = to.isCut() ? static_cast<double>(mesh_.size()) : 1;
    return isHeld ? batches_.byte * static_cast<double>(type.bytes()) / part : 0;
  }

  // Price of the replicas of a parameter on one device, which every device that reads it holds
  // (compiler/transfer); parts are gathered for each reader, and freed behind it.
  double replicas(OpId producer, const Layout& from, const Layout& to, const TensorType& type) const {
    const bool isReplicated = batches_.byte > 0 && graph_[producer].kind() == OpKind::Parameter &&
                              from.form == Layout::Form::OnOne && to != from;
    const double part = to.isCut() ? static_cast<double>(mesh_.size()) : 1;
    return isReplicated ? batches_.byte * static_cast<double>(type.bytes()) / part : 0;
  }

  // Price of copying a value of this layout to another row, from each device to the one at its position.
  double crossing(OpId producer, OpId reader, const Layout& layout, const TensorType& type) const {
    if (rows_ == nullptr || rows_->devices.empty() || graph_[producer].kind() == OpKind::Input ||
        rows_->of[producer] == rows_->of[reader]) {
      return 0;
    }
    const bool isPart = layout.isCut() || layout.form == Layout::Form::OnOne;
    const double bytes = static_cast<double>(type.bytes()) / (isPart ? static_cast<double>(mesh_.size()) : 1);
    return price_ * (rows_->latencySeconds + (rows_->bandwidth > 0 ? bytes / rows_->bandwidth : 0));
  }

  void addReads(ValueId value, OpId producer, llvm::ArrayRef<Read> reads) {
    const size_t result = value.index() - graph_[producer].firstResult.index();
    const TensorType& type = graph_.typeOf(value);
    if (reads.size() == 1) {
      const Read read = reads.front();
      addPair(producer.index(), read.op.index(), options_[producer], options_[read.op],
              [&](const OpOption& a, const OpOption& b) {
                const Layout& wanted = b.operands[read.operand];
                const TensorType& sent = sentType(producer, read.op, type);
                return times(producer, read.op) * (price(producer, a.results[result], wanted, sent) +
                                                   crossing(producer, read.op, wanted, sent)) +
                       holding(producer, read.op, a.results[result], wanted, sent) +
                       replicas(producer, a.results[result], wanted, sent);
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
    const Read* const often = llvm::find_if(reads, [&](const Read& read) { return isOfBatch(read.op); });
    const OpId reader = often != reads.end() ? often->op : reads.front().op;
    addPair(producer.index(), brought, options_[producer], layouts, [&](const OpOption& a, const Layout& b) {
      return times(producer, reader) * price(producer, a.results[result], b, type) +
             holding(producer, reader, a.results[result], b, type);
    });
    for (const Read& read : reads) {
      addPair(brought, read.op.index(), layouts, options_[read.op], [&](const Layout& a, const OpOption& b) {
        const Layout& wanted = b.operands[read.operand];
        const TensorType& sent = sentType(producer, read.op, type);
        return times(producer, read.op) *
                   (price(producer, a, wanted, sent) + crossing(producer, read.op, wanted, sent)) +
               holding(producer, read.op, a, wanted, sent);
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
  double price_, feeds_;
  const Rows* rows_;
  const PricedOptions::Batches batches_;
  ChoiceProblem problem_;
  std::vector<std::pair<OpId, uint32_t>> brought_; // producers and the variables of what they give
};

} // namespace

SplitProblem splitProblem(const PricedOptions& given) { return Maker(given).make(); }

std::vector<uint32_t> followInputs(const SplitProblem& problem, const PricedOptions& given) {
  const Graph& graph = given.graph;
  std::vector<uint32_t> fixed(problem.choice.options.size(), undecided), order;
  auto brought = problem.brought.begin();
  for (const OpId op : graph.ops()) {
    const bool isInput = graph[op].kind() == OpKind::Input;
    if (isInput && given.options[op].front().form == OpOption::Form::Parts) {
      fixed[op.index()] = 0;
    }
    const bool follows = isInput || classOf(graph[op].kind()) != OpClass::Source;
    if (follows) {
      order.push_back(op.index());
    }
    for (; brought != problem.brought.end() && brought->first == op; ++brought) {
      if (follows) {
        order.push_back(brought->second);
      }
    }
  }
  return chooseInOrder(problem.choice, order, std::move(fixed));
}

} // namespace dfc
