#include "compiler/explain/explain.h"

#include "compiler/considered.h"
#include "compiler/explain/changed_machine.h"
#include "compiler/explain/explain_parts.h"
#include "compiler/hoist/hoist_invariant_ops.h"
#include "compiler/run_passes.h"
#include "compiler/split/bound/bound_splits.h"
#include "compiler/split/take_cuts.h"
#include "ir/graph/graph.h"

#include <fmt/format.h>
#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <iterator>

namespace dfc {
namespace {

class Listener : public CompileObserver {
 public:
  void considered(const ConsideredPlacements& all) override { placements = all; }
  /// The split graph of the chosen placement; null if that placement has no split.
  const SplitGraph* split() const {
    return placements.chosen ? placements.candidates[*placements.chosen].split.get() : nullptr;
  }
  ConsideredPlacements placements;
};

/// Devices that compute a result, empty ones included.
std::vector<DeviceId> computingDevices(const Executable& plan) {
  SideTable<DeviceId, bool> computes(plan.machine().devices.size(), false);
  for (const StepRow& step : plan.schedule().steps) {
    const QueueRow& queue = plan.schedule().queues[step.queue];
    const OpClass ofOp = classOf(plan.graph()[step.op].kind());
    if (queue.kind == QueueKind::Compute && ofOp != OpClass::Source && ofOp != OpClass::View) {
      computes[queue.device] = true;
    }
  }
  std::vector<DeviceId> devices;
  llvm::copy_if(plan.machine().devices.ids(), std::back_inserter(devices),
                [&](DeviceId device) { return computes[device]; });
  return devices;
}

/// Devices that compute or hold values, in the machine's order.
std::vector<DeviceId> usedDevices(const Executable& plan, llvm::ArrayRef<DeviceId> computing) {
  std::vector<DeviceId> used;
  llvm::copy_if(plan.machine().devices.ids(), std::back_inserter(used), [&](DeviceId device) {
    return llvm::is_contained(computing, device) || plan.memory().arenaBytes[device] > 0;
  });
  return used;
}

/// The devices of all rows, without rows that are the host.
std::vector<DeviceId> devicesOf(const SplitPlan& plan) {
  std::vector<DeviceId> devices;
  for (size_t row = 0; row < plan.rows.devices.size(); ++row) {
    if (!plan.rows.isOneDevice(row)) {
      const auto& own = plan.rows.devices[row];
      devices.insert(devices.end(), own.begin(), own.end());
    }
  }
  return devices.empty() ? plan.mesh.devices : devices;
}

/// Every row has the same share of the work.
double shareOf(DeviceId device, const SplitPlan& plan) {
  const std::vector<DeviceId> devices = devicesOf(plan);
  const auto found = llvm::find(devices, device);
  const size_t width = plan.mesh.size();
  return found == devices.end() ? 0
                                : plan.mesh.shares[static_cast<size_t>(found - devices.begin()) % width] *
                                      static_cast<double>(width) / static_cast<double>(devices.size());
}

std::vector<ExplainedDevice> devicesOf(const Executable& plan, const SplitGraph* split) {
  std::vector<ExplainedDevice> rows;
  for (const DeviceId device :
       usedDevices(plan, split != nullptr ? devicesOf(split->plan) : computingDevices(plan))) {
    const DeviceRow& row = plan.machine().devices[device];
    rows.push_back({row.name, split != nullptr ? shareOf(device, split->plan) : 0,
                    plan.memory().arenaBytes[device], plan.memory().residentBytes[device], row.memoryBytes});
  }
  return rows;
}

Explanation describeParts(const Executable& plan, const SplitGraph* split) {
  Explanation said;
  said.graph = plan.graph().name();
  said.machine = plan.machine().name;
  said.placement = plan.policy();
  said.machineDevices = plan.machine().devices.size();
  said.devices = devicesOf(plan, split);
  said.parameters = explainParameters(plan);
  said.traffic = explainTraffic(plan, split);
  said.seconds = plan.predictedSeconds();
  said.bound = plan.lowerBoundSeconds();
  said.aloneSeconds = plan.schedule().makespan;
  return said;
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
    explained.explanation.boundOfSplits = boundOfSplits();
    if (wanted.oneDevice && !hasPins()) {
      addOneDevice(explained.explanation);
    }
    if (wanted.changes) {
      addChanges(explained.explanation, *plan, listener.split());
    }
    return Result<Explained>(std::move(explained)).withWarnings(plan.warnings());
  }

 private:
  static Explanation describe(const Executable& plan, const Listener& listener, size_t depth) {
    const SplitGraph* split = listener.split();
    Explanation said = describeParts(plan, split);
    said.isSplit = split != nullptr;
    said.grid = split != nullptr ? split->grid : Grid();
    said.candidates = explainCandidates(listener.placements, plan.machine());
    if (split != nullptr) {
      const Mesh& mesh = split->plan.mesh;
      said.bandwidth = mesh.bandwidth;
      said.latencySeconds = mesh.latencySeconds;
      said.largestShare = *std::max_element(mesh.shares.begin(), mesh.shares.end()) *
                          static_cast<double>(mesh.size()) /
                          static_cast<double>(devicesOf(split->plan).size());
      said.scopes = explainScopes(split->outer ? *split->outer : *split, depth);
      if (split->outer) {
        said.scopesInGroups = explainScopes(*split, depth);
      }
    }
    return said;
  }

  // By the graph or beside it; the devices of inputs are not chosen.
  bool hasPins() const {
    return !options_.pins.empty() || llvm::any_of(graph_.ops(), [&](OpId op) {
      return !graph_.pinOf(op).empty() && graph_[op].kind() != OpKind::Input;
    });
  }

  // For the graph behind the phase Rewrite, which splits are chosen for.
  std::optional<double> boundOfSplits() const {
    if (hasPins()) {
      return std::nullopt;
    }
    const auto written = runPasses(PassPhase::Expand, graph_, machine_, options_);
    const auto graph = written ? runPasses(PassPhase::Rewrite, *written, machine_, options_)
                               : Result<Graph>(written.errors());
    if (!graph) {
      return std::nullopt;
    }
    const auto hoisted = hoistUnlessSkipped(graph_, *graph, options_.skipPasses);
    return leastSplitSeconds(hoisted ? hoisted->step : *graph, machine_, cost_);
  }

  // With all the memory that it needs, where it has too little.
  void addOneDevice(Explanation& said) const {
    CompileOptions options = options_;
    options.policy = "single";
    options.splits = {};
    const Graph whole = takeCuts(graph_).graph;
    auto alone = compile(whole, machine_, cost_, options);
    if (!alone) {
      Machine roomy = machine_;
      for (const DeviceId device : roomy.devices.ids()) {
        roomy.devices[device].memoryBytes = 0;
      }
      said.oneDeviceFits = false;
      alone = compile(whole, roomy, cost_, options);
    }
    if (alone) {
      said.oneDeviceSeconds = alone->predictedSeconds();
    }
  }

  // A plan that computes nothing is the same on every machine.
  void addChanges(Explanation& said, const Executable& plan, const SplitGraph* split) const {
    const std::vector<DeviceId> computing = split ? devicesOf(split->plan) : computingDevices(plan);
    if (computing.empty()) {
      return;
    }
    const std::vector<DeviceId> used = split ? computing : usedDevices(plan, computing);
    if (const auto larger = withOneMore(machine_, computing.back())) {
      addChange(said, fmt::format("one more device like {}", machine_.devices[computing.back()].name),
                *larger);
    }
    const std::vector<Route> routes = routesBetween(machine_, used);
    if (const Machine faster = withFasterLinks(machine_, routes, 2); isFaster(faster, routes)) {
      addChange(said, fmt::format("links between {} twice as fast", split ? "devices of the split" : "them"),
                faster);
    }
    if (llvm::any_of(used, [&](DeviceId one) { return machine_.devices[one].memoryBytes > 0; })) {
      addChange(said, used.size() == 1 ? "twice its memory" : "twice their memory",
                withMoreMemory(machine_, used, 2));
    }
  }

  // Not where the seconds of copies were measured: they do not depend on the links then.
  bool isFaster(const Machine& faster, llvm::ArrayRef<Route> routes) const {
    return llvm::any_of(routes, [&](const Route& route) {
      return cost_.transferSeconds(faster, route, typicalTransferBytes) <
             cost_.transferSeconds(machine_, route, typicalTransferBytes);
    });
  }

  // Each change leaves the present plan possible, and no slower: where none better is found, it is told
  // again.
  void addChange(Explanation& said, std::string change, const Machine& machine) const {
    const auto plan = compile(graph_, machine, cost_, options_);
    if (plan && plan->predictedSeconds() > said.seconds) {
      said.changes.push_back({std::move(change), said.seconds, "this plan, none better is found"});
      return;
    }
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

Explanation explainPlan(const Executable& plan) { return describeParts(plan, nullptr); }

} // namespace dfc
