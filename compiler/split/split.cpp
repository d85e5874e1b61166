#include "compiler/split/split.h"

#include "compiler/split/choose_split.h"
#include "compiler/split/expand_split.h"
#include "compiler/split/take_cuts.h"
#include "compiler/split/unfold_batch_norms.h"
#include "compiler/split/wished_cuts.h"

#include <fmt/format.h>
#include <llvm/ADT/STLExtras.h>

#include <cmath>
#include <optional>

namespace dfc {
namespace {

// Of a second on a link, in seconds of computation: dear, half hidden, all but hidden.
constexpr double prices[] = {1, 0.25, 0.05};

bool hasPins(const Graph& graph) {
  return llvm::any_of(graph.ops(), [&](OpId op) {
    return graph[op].kind() != OpKind::Input && !graph.text(graph[op].pin).empty();
  });
}

// Whether an input or a parameter is a part or a copy already.
bool hasParts(const Graph& graph) {
  return llvm::any_of(graph.opsOf(OpKind::Input),
                      [&](OpId op) { return !graph[op].as<ops::Input>().of.empty(); }) ||
         llvm::any_of(graph.opsOf(OpKind::Parameter), [&](OpId op) {
           const auto& parameter = graph[op].as<ops::Parameter>();
           return !parameter.of.empty() || parameter.part.isPart();
         });
}

// Of custom ops, which run on the kinds of device that their authors name: one that a device cannot run, and
// the device.
std::optional<std::pair<OpId, DeviceId>> customWithoutDevice(const Graph& graph,
                                                             llvm::ArrayRef<DeviceId> devices,
                                                             const Machine& machine, const CostModel& cost) {
  for (const OpId op : graph.opsOf(OpKind::Custom)) {
    for (const DeviceId device : devices) {
      if (!std::isfinite(cost.opSeconds(graph, op, machine, device))) {
        return std::pair(op, device);
      }
    }
  }
  return std::nullopt;
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

enum class Plans : uint8_t {
  ThatSplitOps, ///< some op that computes is cut
  All,          ///< of wishes: perhaps parameters alone are cut
};

/// The plans of a mesh, each different from the others, for several prices.
void addPlans(const Graph& graph, const SplitChoices& choices, const Machine& machine, Plans which,
              std::vector<SplitGraph>& candidates) {
  std::vector<SplitPlan> plans;
  for (const double price : prices) {
    SplitPlan plan = choices.choose(price);
    if (std::isfinite(plan.seconds) && (which == Plans::All || splitsAnything(graph, plan)) &&
        llvm::none_of(plans, [&](const SplitPlan& other) { return sameOptions(graph, plan, other); })) {
      plans.push_back(std::move(plan));
    }
  }
  for (SplitPlan& plan : plans) {
    SplitGraph candidate{{}, plan, fmt::format("split over {}", toString(plan.mesh, machine)), graph, {}};
    candidate.graph = expandSplit(graph, plan, machine, &candidate.movements);
    candidates.push_back(std::move(candidate));
  }
}

Result<std::vector<SplitGraph>> wishedCandidates(const Graph& graph, const Machine& machine,
                                                 const CostModel& cost, llvm::ArrayRef<WishedCut> wishes) {
  auto devices = devicesOf(wishes, machine);
  if (!devices) {
    return devices.errors();
  }
  if (const auto without = customWithoutDevice(graph, *devices, machine, cost)) {
    const auto& [op, device] = *without;
    return errorAt(wishes.front(),
                   fmt::format("{}: custom op '{}' cannot run on {}", wishes.front().text, graph.nameOf(op),
                               machine.devices[device].name),
                   "give the op the seconds that it takes on such a device, or cut over others");
  }
  const SplitChoices all(graph, meshOfAll(*std::move(devices), graph, machine, cost), machine, cost,
                         OptionSpace::All);
  SplitChoices choices = all;
  if (Diagnostics errors = require(graph, wishes, choices); !errors.empty()) {
    return errors;
  }
  std::vector<SplitGraph> candidates;
  addPlans(graph, choices, machine, Plans::All, candidates);
  if (candidates.empty()) {
    return contradiction(graph, wishes, all);
  }
  return candidates;
}

} // namespace

Result<std::vector<SplitGraph>> splitCandidates(const Graph& written, const Machine& machine,
                                                const CostModel& cost, llvm::ArrayRef<SplitWish> wishes) {
  TakenCuts taken = takeCuts(unfoldBatchNorms(written));
  if (machine.devices.size() < 2) {
    taken.cuts.clear();
  }
  const auto cuts = wishedCuts(taken, wishes);
  if (!cuts) {
    return cuts.errors();
  }
  std::vector<SplitGraph> candidates;
  if (hasPins(written) || hasParts(written)) {
    return cuts->empty() ? Result<std::vector<SplitGraph>>(std::move(candidates))
                         : errorAt(cuts->front(),
                                   fmt::format("{}: a graph with {} is not split", cuts->front().text,
                                               hasPins(written) ? "pins" : "parts of inputs or parameters"),
                                   "leave them out, or the wishes for a split");
  }
  const Graph& graph = taken.graph;
  if (!cuts->empty()) {
    return wishedCandidates(graph, machine, cost, *cuts);
  }
  if (machine.devices.size() > 1) {
    for (const Mesh& mesh : candidateMeshes(graph, machine, cost)) {
      addPlans(graph, SplitChoices(graph, mesh, machine, cost), machine, Plans::ThatSplitOps, candidates);
    }
  }
  return candidates;
}

} // namespace dfc
