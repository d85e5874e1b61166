// The pipeline on one screen. From placement on, each stage is a type of its own and asks for the one before
// it, so a step out of order does not compile; before it, graphs become graphs, in the order written here and
// in passes/passes.def.
#include "compiler/compile.h"

#include "compiler/choose_placement.h"
#include "compiler/hoist/hoist_invariant_ops.h"
#include "compiler/lower_options.h"
#include "compiler/memory/addressable.h"
#include "compiler/memory/fit_memory.h"
#include "compiler/memory/plan_memory.h"
#include "compiler/place/memory_demand.h"
#include "compiler/plan_placement.h"
#include "compiler/plan_preparation.h"
#include "compiler/run_passes.h"
#include "compiler/schedule/schedule.h"
#include "compiler/simulate/lower_counted.h"
#include "compiler/stage_check.h"
#include "ir/verify/verify.h"

#include <fmt/format.h>
#include <llvm/ADT/STLExtras.h>

#include <optional>

namespace dfc {
namespace {

Diagnostics explained(std::vector<MissingDevice> missing, const CompileOptions& options) {
  Diagnostics errors;
  for (MissingDevice& one : missing) {
    errors.push_back(options.explainMissingDevice
                         ? options.explainMissingDevice(one.device, std::move(one.error))
                         : std::move(one.error));
  }
  return errors;
}

// Adds to each out-of-memory error the description of the plan that it is about: the tried plan with the
// least memory need.
Diagnostics ofPlan(const std::string& recipe, Diagnostics errors) {
  for (Diagnostic& error : errors) {
    error.message += fmt::format("; of the plans that were tried this one needs least: {}", recipe);
  }
  return errors;
}

// A step that gives nothing back and keeps nothing is no step that an author meant. Said at the last op,
// behind which a fetch is missing.
Diagnostics refuseIdleSteps(const Graph& graph) {
  if (!graph.fetches().empty() || !graph.opsOf(OpKind::Assign).empty()) {
    return {};
  }
  const auto count = static_cast<uint32_t>(graph.opCount());
  return {{Severity::Error, count == 0 ? SourceLocation{} : graph.locationOf(OpId(count - 1)),
           "graph '" + graph.name() + "' fetches nothing and assigns nothing: a step would compute nothing",
           "fetch a result ('fetch NAME' in a graph file, Builder::fetch in C++), or assign to a parameter"}};
}

/// A sealed plan, and whether every value could have memory of its own in it: then no memory was saved.
struct PlannedGraph {
  Executable plan;
  bool ample;
};

Result<PlannedGraph> planGraph(const Graph& graph, const Machine& machine, const CostModel& cost,
                               const CompileOptions& options) {
  // Placement: of the graph as it is, or of its ops cut into parts. Fusion runs inside, behind the cut,
  // because the split rules are those of single ops. Transfers follow from the placement, so it cannot come
  // later.
  auto placement = choosePlacement(graph, machine, cost, options);
  if (!placement) {
    return placement.errors();
  }
  checkStage("place", [&] { return verifyPlacement(*placement, machine); });
  auto plan = planPlacement(*placement, machine, cost, options);
  if (!plan) {
    return plan.errors();
  }
  const bool ample = fitsInto(machine, memoryDemand(*placement, machine).most);
  return PlannedGraph{*std::move(plan), ample};
}

/// Step and preparation; nothing where they have no plan together, or where memory is short and a step
/// without a preparation is not slower.
std::optional<Executable> planHoisted(const HoistedGraph& hoisted, const Graph& whole, const Machine& machine,
                                      const CostModel& cost, const CompileOptions& options) {
  auto step = planGraph(hoisted.step, machine, cost, options);
  if (!step) {
    return std::nullopt;
  }
  auto preparation = planPreparation(hoisted.preparation, step->plan.placed(), machine, cost, options);
  auto both =
      preparation ? step->plan.preparedBy(*std::move(preparation)) : Result<Executable>(preparation.errors());
  if (!both) {
    return std::nullopt;
  }
  if (!step->ample) {
    CompileOptions quiet = options;
    quiet.observer = nullptr;
    const auto other = planGraph(whole, machine, cost, quiet);
    if (other && other->plan.predictedSeconds() <= both->predictedSeconds()) {
      return std::nullopt;
    }
  }
  return *std::move(both);
}

} // namespace

Result<Executable> compile(const Graph& source, const Machine& machine, const CostModel& cost,
                           const CompileOptions& options) {
  if (Diagnostics errors = checkPassNames(options.skipPasses); !errors.empty()) {
    return errors;
  }

  if (Diagnostics errors = verifyMachine(machine); !errors.empty()) {
    return errors;
  }

  if (Diagnostics errors = refusePlanOps(source); !errors.empty()) {
    return errors;
  }

  if (Diagnostics errors = verifyWholeState(source); !errors.empty()) {
    return errors;
  }

  // Attention first, so that gradients are taken of the op; then the scale of the loss that they are taken
  // of; then gradients, so that every op that will run has its name; then pins by name, before a pass renames
  // or joins ops.
  auto written = runPasses(PassPhase::Expand, source, machine, options);
  if (!written) {
    return written.errors();
  }
  auto pinned = applyPinRules(*written, machine, options.pins);
  if (!pinned) {
    return pinned.errors();
  }

  // Before passes drop, join and rename ops, so that errors name the op that the author wrote.
  if (auto missing = missingDevices(*pinned, machine); !missing.empty()) {
    return explained(std::move(missing), options);
  }

  if (Diagnostics errors = refuseIdleSteps(source); !errors.empty()) {
    return errors;
  }

  // The other passes need no device either, and every op they save is one that nobody has to place.
  auto graph = runPasses(PassPhase::Rewrite, *std::move(pinned), machine, options);
  if (!graph) {
    return graph.errors();
  }

  // Loop-invariant code motion: ops that give the same values in every step go into a plan that runs before
  // the first step. It precedes placement, so that placement prices the ops of a step alone.
  std::optional<Executable> plan;
  if (const auto hoisted = hoistUnlessSkipped(source, *graph, options.skipPasses)) {
    plan = planHoisted(*hoisted, *graph, machine, cost, options);
  }
  if (!plan) {
    auto whole = planGraph(*graph, machine, cost, options);
    if (!whole) {
      return whole.errors();
    }
    plan = std::move(whole->plan);
  }
  return Result<Executable>(*std::move(plan)).withWarnings(written.warnings()).withWarnings(graph.warnings());
}

Result<Executable> planPlacement(const Placement& placement, const Machine& machine, const CostModel& cost,
                                 const CompileOptions& options, Replicas replicas) {
  CompileObserver silent;
  CompileObserver& observer = options.observer != nullptr ? *options.observer : silent;

  // Copies become ops before scheduling, so that they are ordered against computation instead of implied by
  // it.
  PlacedGraph placed = insertTransfers(placement, machine, Narrow::Kept, replicas);

  // Sizes that no arena can have are refused before memory planning adds them up.
  if (Diagnostics errors = checkAddressable(placed, machine); !errors.empty()) {
    return errors;
  }

  // When: order before memory, because only the order says which values may share bytes. Where they do not
  // fit so, copies of parameters in 16 bits are made anew in each step instead of kept; then ops wait for
  // free memory (admission control), and order and memory are found together.
  const LaunchForms forms{options.peerReads, options.mergeLaunches};
  Schedule schedule = makeSchedule(placed, machine, cost, forms);
  auto memory = planMemory(placed, schedule, machine);
  if (!memory && hasNarrowReplicas(placed)) {
    placed = insertTransfers(placement, machine, Narrow::CastAnew, replicas);
    schedule = makeSchedule(placed, machine, cost, forms);
    memory = planMemory(placed, schedule, machine);
  }
  checkStage("insertTransfers", [&] { return verifyPlacedGraph(placed, machine); });
  observer.placed(placed);
  if (!memory) {
    auto fitted = fitMemory(placed, schedule, machine, cost, memory.errors());
    if (!fitted) {
      observer.schedule(schedule, placed);
      return ofPlan(placement.policy, fitted.errors());
    }
    schedule = std::move(fitted->schedule);
    memory = std::move(fitted->memory);
  }
  checkStage("makeSchedule", [&] { return verifySchedule(schedule, placed, machine); });
  checkStage("planMemory", [&] { return verifyMemoryPlan(*memory, schedule, placed, machine); });

  // What GPUs launch: last, because launches are merged and moved only where neither the waits nor the bytes
  // that values share can tell. Predictions count the launches: the times of a step by itself; of these, the
  // seconds of a step in a sequence, in which feeds are copied during the step before.
  auto launches = lowerCounted(placed, schedule, *memory, machine, cost, lowerOptionsOf(options));
  if (!launches) {
    return launches.errors();
  }
  checkStage("countLaunches", [&] { return verifySchedule(schedule, placed, machine); });
  checkStage("lower", [&] { return verifyLaunchPlan(*launches, placed, schedule, *memory, machine); });
  observer.schedule(schedule, placed);
  observer.memory(*memory, schedule, placed);
  observer.launches(*launches, schedule, placed);

  // Sealing verifies the stages against one another, in every build: the runtime trusts a sealed plan
  // blindly.
  return Executable::seal(std::move(placed), std::move(schedule), *std::move(memory), *std::move(launches),
                          machine, placement.policy);
}

} // namespace dfc
