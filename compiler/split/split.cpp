#include "compiler/split/split.h"

#include "compiler/split/choose_split.h"
#include "compiler/split/expand_split.h"
#include "compiler/split/take_cuts.h"
#include "compiler/split/unfold_batch_norms.h"
#include "compiler/split/wished_cuts.h"
#include "compiler/threads/for_each.h"
#include "ir/graph/rules/op_rules.h"

#include <fmt/format.h>
#include <llvm/ADT/STLExtras.h>

#include <cmath>
#include <iterator>
#include <optional>

namespace dfc {
namespace {

constexpr double late = 1.01; // sums are made early where ops around them cost the same
// Links: dear, half hidden, all but hidden; and feeds that the step before hides.
constexpr SplitPrices prices[] = {{1, 1, late}, {0.25, 1, late}, {0.05, 1, late}, {1, 0.05, late}, {1, 1, 1}};
// Of small graphs, whose candidates are soon planned, more.
constexpr SplitPrices pricesOfSmall[] = {
    {1, 1, late},       {0.25, 1, late}, {0.05, 1, late}, {1, 0.05, late}, {1, 1, 1},    {0.25, 1, 1},
    {0.25, 0.05, late}, {0.5, 1, late},  {0.5, 0.05, 1},  {2, 1, late},    {2, 0.05, 1}, {0.1, 1, late},
    {0.1, 0.05, 1},     {5, 1, late},    {5, 0.05, late}, {0.01, 1, late}};
constexpr size_t mostOpsOfSmall = 100;

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
    return a.option[op].form == b.option[op].form && a.option[op].factor == b.option[op].factor &&
           a.option[op].operands == b.option[op].operands;
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

/// The plans of a mesh for several prices, each different from the others and from those of the mesh in
/// `candidates`.
void addPlans(const Graph& graph, const SplitChoices& choices, const Machine& machine, Plans which,
              std::vector<SplitGraph>& candidates, const std::vector<AskedCut>& asked = {}) {
  const bool isSmall = graph.opCount() <= mostOpsOfSmall;
  for (const SplitPrices& one : isSmall ? llvm::ArrayRef<SplitPrices>(pricesOfSmall) : prices) {
    SplitPlan plan = choices.choose(one);
    if (std::isfinite(plan.seconds) && (which == Plans::All || splitsAnything(graph, plan)) &&
        llvm::none_of(candidates, [&](const SplitGraph& other) {
          return other.plan.mesh.devices == plan.mesh.devices && sameOptions(graph, plan, other.plan);
        })) {
      candidates.push_back(splitGraphOf(graph, std::move(plan), machine, asked));
    }
  }
}

std::vector<AskedCut> askedBy(const Graph& graph, llvm::ArrayRef<WishedCut> wishes) {
  std::vector<AskedCut> asked;
  for (const WishedCut& wish : wishes) {
    for (const ValueId value : wish.values) {
      asked.push_back({value, *normalAxis(wish.axis, graph.typeOf(value).shape.rank())});
    }
  }
  return asked;
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
  addPlans(graph, choices, machine, Plans::All, candidates, askedBy(graph, wishes));
  if (candidates.empty()) {
    return contradiction(graph, wishes, all);
  }
  return candidates;
}

} // namespace

SplitGraph splitGraphOf(const Graph& graph, SplitPlan plan, const Machine& machine,
                        std::vector<AskedCut> asked) {
  SplitGraph made{{}, std::move(plan), "", graph, {}, std::move(asked)};
  made.description = fmt::format("split over {}", toString(made.plan.mesh, machine));
  made.graph = expandSplit(graph, made.plan, machine, &made.movements);
  return made;
}

Result<std::vector<SplitGraph>> splitCandidates(const Graph& written, const Machine& machine,
                                                const CostModel& cost, llvm::ArrayRef<SplitWish> wishes,
                                                MayGain mayGain) {
  TakenCuts taken = takeCuts(unfoldBatchNorms(written));
  if (machine.devices.size() < 2) {
    taken.cuts.clear();
  }
  const auto cuts = wishedCuts(taken, wishes);
  if (!cuts) {
    return cuts.errors();
  }
  std::vector<SplitGraph> candidates;
  if (!maySplit(written)) {
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
    std::vector<Mesh> meshes = candidateMeshes(graph, machine, cost);
    llvm::erase_if(meshes, [&](const Mesh& mesh) { return !mayGain(mesh.devices); });
    std::vector<std::vector<SplitGraph>> found(meshes.size());
    const auto plan = [&](size_t i) {
      addPlans(graph, SplitChoices(graph, meshes[i], machine, cost), machine, Plans::ThatSplitOps, found[i]);
    };
    if (graph.opCount() > mostOpsOfSmall) {
      forEach(meshes.size(), plan);
    }
    for (size_t i = 0; i < meshes.size(); ++i) {
      if (graph.opCount() <= mostOpsOfSmall) {
        plan(i);
        addPlans(graph, SplitChoices(graph, meshes[i], machine, cost, OptionSpace::All), machine,
                 Plans::ThatSplitOps, found[i]);
      }
      std::move(found[i].begin(), found[i].end(), std::back_inserter(candidates));
    }
  }
  return candidates;
}

std::vector<SplitGraph> candidatesForLittleMemory(const Graph& written, const Machine& machine,
                                                  const CostModel& cost, MayGain mayGain) {
  const Graph graph = unfoldBatchNorms(written);
  std::vector<SplitGraph> candidates;
  if (!maySplit(graph) || machine.devices.size() < 2) {
    return candidates;
  }
  const std::vector<Mesh> meshes = candidateMeshes(graph, machine, cost);
  for (const Mesh& mesh : meshes) {
    // Only the largest mesh of each class, which has the most memory, and the largest of several classes.
    if (mayGain(mesh.devices) && !llvm::any_of(meshes, [&](const Mesh& other) {
          return other.size() > mesh.size() && other.devices.front() == mesh.devices.front() &&
                 other.alike == mesh.alike;
        })) {
      const SplitChoices choices(graph, mesh, machine, cost);
      for (const double reads : {4.0, 100.0}) {
        SplitPlan plan =
            choices.choose({.link = 0.25, .byte = mesh.bandwidth > 0 ? reads / mesh.bandwidth : 0});
        if (std::isfinite(plan.seconds) && plan.gathers) {
          candidates.push_back(splitGraphOf(graph, std::move(plan), machine));
          candidates.back().description += ", state in parts";
        }
      }
    }
  }
  return candidates;
}

bool maySplit(const Graph& graph) { return !hasPins(graph) && !hasParts(graph); }

std::optional<SplitGraph> anySplit(const Graph& written, const Machine& machine, const CostModel& cost) {
  const Graph graph = takeCuts(unfoldBatchNorms(written)).graph;
  if (!maySplit(graph) || machine.devices.size() < 2) {
    return std::nullopt;
  }
  std::optional<SplitGraph> largest;
  for (const Mesh& mesh : candidateMeshes(graph, machine, cost)) {
    if (!largest || mesh.size() > largest->plan.mesh.size()) {
      SplitPlan plan = SplitChoices(graph, mesh, machine, cost).choose({.link = 0.05});
      if (std::isfinite(plan.seconds)) {
        largest = splitGraphOf(graph, std::move(plan), machine);
      }
    }
  }
  return largest;
}

} // namespace dfc
