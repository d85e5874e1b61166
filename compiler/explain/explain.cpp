#include "compiler/explain/explain.h"

#include "compiler/considered.h"
#include "compiler/explain/changed_machine.h"
#include "compiler/explain/explain_parts.h"

#include <fmt/format.h>
#include <llvm/ADT/STLExtras.h>

#include <algorithm>

namespace dfc {
namespace {

using Outcome = ConsideredPlacement::Outcome;

class Listener : public CompileObserver {
 public:
  void considered(const ConsideredPlacements& all) override { placements = all; }
  /// The chosen split; null where a placement of whole ops was chosen.
  const SplitGraph* split() const {
    return placements.chosen ? placements.candidates[*placements.chosen].split.get() : nullptr;
  }
  ConsideredPlacements placements;
};

/// Devices with computations; of a split its mesh.
std::vector<DeviceId> usedDevices(const Executable& plan, const SplitGraph* split) {
  if (split != nullptr) {
    return split->plan.mesh.devices;
  }
  std::vector<DeviceId> used;
  for (const DeviceId device : plan.machine().devices.ids()) {
    if (plan.memory().arenaBytes[device] > 0) {
      used.push_back(device);
    }
  }
  return used;
}

std::vector<ExplainedDevice> devicesOf(const Executable& plan, const SplitGraph* split) {
  std::vector<ExplainedDevice> rows;
  const std::vector<DeviceId> used = usedDevices(plan, split);
  for (size_t i = 0; i < used.size(); ++i) {
    const DeviceRow& row = plan.machine().devices[used[i]];
    rows.push_back({row.name, split != nullptr ? split->plan.mesh.shares[i] : 0,
                    plan.memory().arenaBytes[used[i]], plan.memory().residentBytes[used[i]],
                    row.memoryBytes});
  }
  return rows;
}

std::string verdictOf(const ConsideredPlacement& candidate, double best) {
  const double percent = best > 0 ? 100 * (candidate.seconds / best - 1) : 0;
  const std::string by = percent >= 0 ? fmt::format("slower by {:.1f} %", percent)
                                      : fmt::format("shorter by {:.1f} %", -percent);
  switch (candidate.outcome) {
  case Outcome::DoesNotFit: return "does not fit into memory";
  case Outcome::Scheduled: return by + " as scheduled, memory not planned";
  case Outcome::Planned: return percent < 0 ? by + ", too little for more devices" : by;
  }
  DFC_UNREACHABLE("an outcome of another kind");
}

std::vector<ExplainedCandidate> candidatesOf(const ConsideredPlacements& placements) {
  std::vector<ExplainedCandidate> rows;
  if (!placements.chosen) {
    return rows;
  }
  const double best = placements.candidates[*placements.chosen].seconds;
  for (size_t i = 0; i < placements.candidates.size(); ++i) {
    const ConsideredPlacement& one = placements.candidates[i];
    const bool chosen = i == *placements.chosen, isSplit = one.split != nullptr;
    rows.push_back({isSplit ? fmt::format("{}, links priced at {:g}", one.description, one.split->plan.price)
                            : fmt::format("whole ops by {}", one.description),
                    one.seconds, one.outcome != Outcome::DoesNotFit, chosen, isSplit,
                    chosen ? "chosen" : verdictOf(one, best)});
  }
  llvm::stable_sort(rows, [](const auto& a, const auto& b) {
    return std::tuple(!a.chosen, !a.fits, a.seconds) < std::tuple(!b.chosen, !b.fits, b.seconds);
  });
  return rows;
}

class Explainer {
 public:
  Explainer(const Graph& graph, const Machine& machine, const CostModel& cost, CompileOptions options)
      : graph_(graph), machine_(machine), cost_(cost), options_(std::move(options)) {}

  Result<Explained> run(const ExplainOptions& wanted) {
    Listener listener;
    options_.observer = &listener;
    auto plan = compile(graph_, machine_, cost_, options_);
    options_.observer = nullptr;
    if (!plan) {
      return plan.errors();
    }
    Explained explained{*plan, describe(*plan, listener, wanted.scopeDepth)};
    if (wanted.oneDevice) {
      addOneDevice(explained.explanation);
    }
    if (wanted.changes) {
      addChanges(explained.explanation, usedDevices(*plan, listener.split()));
    }
    return Result<Explained>(std::move(explained)).withWarnings(plan.warnings());
  }

 private:
  static Explanation describe(const Executable& plan, const Listener& listener, size_t depth) {
    const SplitGraph* split = listener.split();
    Explanation said;
    said.graph = plan.graph().name();
    said.machine = plan.machine().name;
    said.policy = plan.policy();
    said.isSplit = split != nullptr;
    said.devices = devicesOf(plan, split);
    said.parameters = explainParameters(plan);
    said.traffic = explainTraffic(plan, split);
    said.seconds = plan.predictedSeconds();
    said.bound = plan.lowerBoundSeconds();
    said.aloneSeconds = plan.schedule().makespan;
    said.candidates = candidatesOf(listener.placements);
    if (split != nullptr) {
      const Mesh& mesh = split->plan.mesh;
      said.bandwidth = mesh.bandwidth;
      said.latencySeconds = mesh.latencySeconds;
      said.largestShare = *std::max_element(mesh.shares.begin(), mesh.shares.end());
      said.scopes = explainScopes(*split, depth);
    }
    return said;
  }

  // With all the memory that it needs, where it has too little.
  void addOneDevice(Explanation& said) const {
    CompileOptions options = options_;
    options.policy = "single";
    options.splits = {};
    auto alone = compile(graph_, machine_, cost_, options);
    if (!alone) {
      Machine roomy = machine_;
      for (const DeviceId device : roomy.devices.ids()) {
        roomy.devices[device].memoryBytes = 0;
      }
      said.oneDeviceFits = false;
      alone = compile(graph_, roomy, cost_, options);
    }
    if (alone) {
      said.oneDeviceSeconds = alone->predictedSeconds();
    }
  }

  void addChanges(Explanation& said, llvm::ArrayRef<DeviceId> used) const {
    const DeviceId last = used.back();
    const std::string& device = machine_.devices[last].name;
    addChange(said, fmt::format("one more device like {}", device), withOneMore(machine_, last));
    if (used.size() > 1) {
      addChange(said, "links between them twice as fast", withFasterLinks(machine_, used, 2));
    }
    if (llvm::any_of(used, [&](DeviceId one) { return machine_.devices[one].memoryBytes > 0; })) {
      addChange(said, "twice their memory", withMoreMemory(machine_, used, 2));
    }
  }

  void addChange(Explanation& said, std::string change, const Machine& machine) const {
    const auto plan = compile(graph_, machine, cost_, options_);
    said.changes.push_back({std::move(change), plan ? std::optional(plan->predictedSeconds()) : std::nullopt,
                            plan ? plan->policy() : ""});
  }

  const Graph& graph_;
  const Machine& machine_;
  const CostModel& cost_;
  CompileOptions options_;
};

} // namespace

Result<Explained> explain(const Graph& graph, const Machine& machine, const CostModel& cost,
                          CompileOptions options, const ExplainOptions& explain) {
  return Explainer(graph, machine, cost, std::move(options)).run(explain);
}

} // namespace dfc
