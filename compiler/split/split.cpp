#include "compiler/split/split.h"

#include "compiler/split/choose_split.h"
#include "compiler/split/expand_split.h"
#include "compiler/split/unfold_batch_norms.h"

#include <fmt/format.h>
#include <llvm/ADT/STLExtras.h>

#include <cmath>

namespace dfc {
namespace {

// Of a second on a link, in seconds of computation: dear, half hidden, all but hidden.
constexpr double prices[] = {1, 0.25, 0.05};

bool hasPins(const Graph& graph) {
  return llvm::any_of(graph.ops(), [&](OpId op) {
    return graph[op].kind() != OpKind::Input && !graph.text(graph[op].pin).empty();
  });
}

bool sameOptions(const Graph& graph, const SplitPlan& a, const SplitPlan& b) {
  return llvm::all_of(graph.ops(), [&](OpId op) {
    return a.option[op].form == b.option[op].form && a.option[op].factor == b.option[op].factor;
  });
}

bool splitsAnything(const Graph& graph, const SplitPlan& plan) {
  return llvm::any_of(graph.ops(), [&](OpId op) {
    return plan.option[op].form == OpOption::Form::Parts && classOf(graph[op].kind()) != OpClass::Source;
  });
}

} // namespace

std::vector<SplitGraph> splitCandidates(const Graph& written, const Machine& machine, const CostModel& cost) {
  std::vector<SplitGraph> candidates;
  if (machine.devices.size() < 2 || hasPins(written)) {
    return candidates;
  }
  const Graph graph = unfoldBatchNorms(written);
  for (const Mesh& mesh : candidateMeshes(graph, machine, cost)) {
    const SplitChoices choices(graph, mesh, machine, cost);
    std::vector<SplitPlan> plans;
    for (const double price : prices) {
      SplitPlan plan = choices.choose(price);
      if (std::isfinite(plan.seconds) && splitsAnything(graph, plan) &&
          llvm::none_of(plans, [&](const SplitPlan& other) { return sameOptions(graph, plan, other); })) {
        plans.push_back(std::move(plan));
      }
    }
    for (SplitPlan& plan : plans) {
      candidates.push_back(
          {expandSplit(graph, plan, machine), plan, fmt::format("split over {}", toString(mesh, machine))});
    }
  }
  return candidates;
}

} // namespace dfc
