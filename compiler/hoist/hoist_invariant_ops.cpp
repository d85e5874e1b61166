// Two backward traversals mark the ops of the step and of the preparation; two forward traversals copy the
// marked ops. A result of a hoisted op that the step reads becomes a parameter of the same name.
#include "compiler/hoist/hoist_invariant_ops.h"

#include "compiler/hoist/worth_hoisting.h"
#include "compiler/passes/passes.h"
#include "ir/graph/rewriter.h"

#include <llvm/ADT/STLExtras.h>

namespace dfc {
namespace {

class Hoister {
 public:
  explicit Hoister(const Graph& graph)
      : graph_(graph), ops_(worthHoisting(graph)), inStep_(graph.opCount()), inPreparation_(graph.opCount()),
        prepared_(graph.valueCount()) {}

  std::optional<HoistedGraph> run() {
    findStep();
    if (!any_ || !stepComputes() || isSplit()) {
      return std::nullopt;
    }
    findPreparation();
    return HoistedGraph{step(), preparation()};
  }

 private:
  // Ops that nothing reads are left out, so that a value that only they read is not kept.
  void findStep() {
    for (const Fetch& fetch : graph_.fetches()) {
      read(fetch.value);
    }
    for (auto index = static_cast<uint32_t>(graph_.opCount()); index-- > 0;) {
      const OpId op(index);
      if (inStep_[op] || isRoot(op)) {
        inStep_[op] = true;
        for (const ValueId operand : graph_[op].operands) {
          read(operand);
        }
      }
    }
  }

  bool isRoot(OpId op) const {
    const OpRow& row = graph_[op];
    const auto* custom = row.getIf<ops::Custom>();
    return classOf(row.kind()) == OpClass::State || row.kind() == OpKind::Input ||
           row.kind() == OpKind::Parameter || (custom != nullptr && !custom->pure);
  }

  void read(ValueId value) {
    const OpId producer = graph_[value].producer;
    prepared_[value] = ops_.worth[producer];
    any_ = any_ || prepared_[value];
    inStep_[producer] = inStep_[producer] || !prepared_[value];
  }

  // Parameters of a split graph go by two names, their own and the author's, which prepared ones would share.
  bool isSplit() const {
    return llvm::any_of(graph_.opsOf(OpKind::Parameter),
                        [&](OpId op) { return !graph_[op].as<ops::Parameter>().of.empty(); });
  }

  // Whether anything depends on what changes from step to step. Where nothing does, a step runs for its own
  // sake, once or under a clock.
  bool stepComputes() const {
    return llvm::any_of(graph_.ops(), [&](OpId op) {
      const OpClass kind = classOf(graph_[op].kind());
      return inStep_[op] && !ops_.invariant[op] && kind != OpClass::Source && kind != OpClass::State &&
             kind != OpClass::View;
    });
  }

  void findPreparation() {
    for (auto index = static_cast<uint32_t>(graph_.opCount()); index-- > 0;) {
      const OpId op(index);
      for (const ValueId result : graph_[op].results()) {
        inPreparation_[op] = inPreparation_[op] || prepared_[result];
      }
      if (inPreparation_[op]) {
        for (const ValueId operand : graph_[op].operands) {
          inPreparation_[graph_[operand].producer] = true;
        }
      }
    }
  }

  Graph step() const {
    Rewriter rewriter(graph_);
    for (const OpId op : graph_.ops()) {
      for (const ValueId result : graph_[op].results()) {
        if (prepared_[result]) {
          ops::Parameter parameter;
          parameter.type = graph_.typeOf(result);
          parameter.ofPlan = true;
          const OpId made = rewriter.append(std::move(parameter), {}, op, graph_.nameOf(result));
          rewriter.replace(result, rewriter.builder().result(made));
        }
      }
      if (inStep_[op]) {
        rewriter.copy(op);
      }
    }
    return std::move(rewriter).finish();
  }

  Graph preparation() const {
    GraphBuilder builder(graph_);
    SideTable<ValueId, ValueId> made(graph_.valueCount());
    for (const OpId op : graph_.ops()) {
      if (inPreparation_[op]) {
        copy(op, builder, made);
      }
    }
    for (const ValueId value : graph_.values()) {
      if (prepared_[value]) {
        builder.fetch(graph_.nameOf(value), made[value]);
      }
    }
    Result<Graph> graph = std::move(builder).finish();
    DFC_ASSERT(graph.ok(), "hoisting broke the graph: " + render(graph.errors()));
    return *std::move(graph);
  }

  void copy(OpId op, GraphBuilder& builder, SideTable<ValueId, ValueId>& made) const {
    llvm::SmallVector<ValueId, 3> operands;
    for (const ValueId operand : graph_[op].operands) {
      operands.push_back(made[operand]);
    }
    const OpId copied = builder.appendInterned(graph_[op].attributes, operands, graph_.provenanceOf(op));
    for (uint32_t i = 0; i < graph_[op].resultCount; ++i) {
      const ValueId old(graph_[op].firstResult.index() + i);
      made[old] = builder.result(copied, i);
      if (i > 0) {
        builder.rename(made[old], graph_[old].name);
      }
    }
  }

  const Graph& graph_;
  InvariantOps ops_;
  SideTable<OpId, bool> inStep_, inPreparation_;
  SideTable<ValueId, bool> prepared_; ///< parameters of the step
  bool any_ = false;
};

} // namespace

std::optional<HoistedGraph> hoistInvariantOps(const Graph& graph) { return Hoister(graph).run(); }

std::optional<HoistedGraph> hoistUnlessSkipped(const Graph& source, const Graph& graph,
                                               llvm::ArrayRef<std::string> skipPasses) {
  const bool takesGradients = !source.opsOf(OpKind::Gradients).empty() || !source.gradientRecords().empty();
  return takesGradients || llvm::is_contained(skipPasses, hoistName) ? std::nullopt
                                                                     : hoistInvariantOps(graph);
}

} // namespace dfc
