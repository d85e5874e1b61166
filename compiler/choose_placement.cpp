#include "compiler/choose_placement.h"

#include "compiler/considered.h"
#include "compiler/fit_candidate.h"
#include "compiler/grids.h"
#include "compiler/lower_options.h"
#include "compiler/operands/transposed_operands.h"
#include "compiler/place/makespan_bound.h"
#include "compiler/place/memory_demand.h"
#include "compiler/place/place.h"
#include "compiler/run_passes.h"
#include "compiler/search_placement.h"
#include "compiler/split/shares/mesh_floor.h"
#include "compiler/split/split.h"
#include "compiler/split/take_cuts.h"
#include "compiler/threads/for_each.h"

#include <fmt/format.h>
#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <utility>

namespace dfc {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

/// Largest ratio of a split's predicted seconds to those of the quickest placement without a split at which
/// the split is chosen: predictions are not exact enough for a smaller gain.
constexpr double worthwhile = 0.98;
/// Ratio of a split's predicted seconds to those of one device below which policy `auto` of compiler/place,
/// the slowest part of planning, is skipped: without a split several devices seldom gain as much.
constexpr double wellSplit = 0.67;
/// Pipelines are candidates where the parallel efficiency of the best split, the seconds of one device over
/// the devices' seconds together, is below 1 minus this: graphs in micro-batches take long to plan.
constexpr double mostIdle = 0.2;
/// Ratio of a candidate's makespan to the best planned seconds from which it is not planned: merged launches,
/// which a makespan does not count, gain less.
constexpr double hopeless = 1.3;
/// How many split candidates get a memory plan and launches: those with the least predicted makespan. Where
/// memory is short, candidates without a plan that fits are not counted.
constexpr size_t mostPlanned = 3;
/// Ratio of the quickest plan's seconds to the least makespan without a memory limit above which splits that
/// need less memory are candidates, and the most micro-batches of these.
constexpr double slowedByMemory = 1.05;
constexpr size_t mostBatches = 32;
constexpr size_t mostOpsInBatches = 200'000; ///< of all devices and micro-batches
/// Where none fits, more micro-batches are tried as long as they need less than this part of the memory.
constexpr double lessMemory = 0.95;
/// For graphs of few ops: their launches, which a makespan does not count, are most of a step.
constexpr size_t mostPlannedOfSmall = 12, mostOpsOfSmall = 100;

/// A placement and the predicted seconds of its plan; infinity where the plan does not fit into memory.
struct Rated {
  Placement placement;
  double seconds = never;
  size_t row = 0; ///< of what was considered
  ConsideredPlacement::Outcome outcome = ConsideredPlacement::Outcome::Scheduled;
  bool isShort = false; ///< whether its plan pays for memory with seconds
  LeastNeed need = {};  ///< of its variants that do not fit
};

/// In the machine's order.
std::vector<DeviceId> computingDevices(const Placement& placement, const Machine& machine) {
  SideTable<DeviceId, bool> computes(machine.devices.size(), false);
  for (const OpId op : placement.graph.ops()) {
    const OpClass ofOp = classOf(placement.graph[op].kind());
    if (ofOp != OpClass::Source && ofOp != OpClass::View) {
      computes[placement.device[op]] = true;
    }
  }
  std::vector<DeviceId> devices;
  llvm::copy_if(machine.devices.ids(), std::back_inserter(devices),
                [&](DeviceId device) { return computes[device]; });
  return devices;
}

bool hasPins(const Graph& graph) {
  return llvm::any_of(graph.ops(), [&](OpId op) { return !graph.pinOf(op).empty(); });
}

class PlacementChoice {
 public:
  /// `graph`: with its `cut` ops, `uncut`: without.
  PlacementChoice(const Graph& graph, const Graph& uncut, const Machine& machine, const CostModel& cost,
                  const CompileOptions& options)
      : graph_(graph), uncut_(uncut), machine_(machine), cost_(cost), quiet_(options),
        isPinned_(!options.pins.empty() || hasPins(uncut)) {
    quiet_.observer = nullptr;
  }

  Result<Placement> best(const Graph& fused) {
    auto alone = whole(fused, "single");
    if (alone && graph_.opCount() > mostOpsOfSmall) {
      most_ = hopeless * alone->seconds;
    }
    const MeshFloor floor(fused, machine_, cost_);
    const auto mayGain = [&](llvm::ArrayRef<DeviceId> devices) { return floor.seconds(devices) <= most_; };
    std::optional<Rated> split;
    if (Diagnostics errors = findSplit(split, mayGain); !errors.empty()) {
      return errors;
    }
    if (leavesIdle(split ? split->seconds : never, alone ? alone->seconds : never)) {
      if (Diagnostics errors = rateQuickest(
              gridCandidates(uncut_, machine_, cost_,
                             {alone ? alone->seconds : never, split ? split->seconds : never}, mayGain),
              split);
          !errors.empty()) {
        return errors;
      }
    }
    if (split && split->seconds < wellSplit * (alone ? alone->seconds : never)) {
      return chosen(*std::move(split));
    }
    auto spread = whole(fused, "auto", alone ? &*alone : nullptr);
    if (!spread) {
      return spread.errors();
    }
    if (alone && alone->seconds < spread->seconds) { // placement estimates, plans are counted
      spread = std::move(alone);
    }
    return chosen(split && split->seconds < worthwhile * spread->seconds ? *std::move(split)
                                                                         : *std::move(spread));
  }

  Result<Placement> bestSplit(const Graph& fused) {
    std::optional<Rated> split;
    if (Diagnostics errors = findSplit(split, anyMayGain); !errors.empty()) {
      return errors;
    }
    if (split) {
      return chosen(*std::move(split));
    }
    auto alone = whole(fused, "single");
    return alone ? Result<Placement>(chosen(*std::move(alone))) : Result<Placement>(alone.errors());
  }

  const ConsideredPlacements& considered() const { return considered_; }

 private:
  // Where nothing fits, the plan that needs least: its errors say how much.
  Placement chosen(Rated rated) {
    if (rated.seconds == never && need_.placement()) {
      return *need_.placement();
    }
    search(rated);
    considered_.chosen = rated.row;
    return std::move(rated.placement);
  }

  // Replaces the chosen plan by a quicker one where the local search finds it within planSeconds and
  // planSteps.
  void search(Rated& rated) {
    const bool isSplit = considered_.candidates[rated.row].split != nullptr;
    SearchStart start{graph_,  rated.placement, rated.seconds, isSplit, worthwhile * rated.seconds,
                      nullptr, never,           begin_};
    for (const ConsideredPlacement& row : considered_.candidates) {
      // Splits along several axes are left out: the moves of the search do not change `SplitPlan::rows`.
      if (row.split && row.split->grid.isPlain() && row.outcome == ConsideredPlacement::Outcome::Planned &&
          row.seconds < start.splitSeconds) {
        start.split = row.split;
        start.splitSeconds = row.seconds;
      }
    }
    if (auto found = searchPlacement(start, machine_, cost_, quiet_)) {
      const std::string policy = found->placement.policy;
      rated = {std::move(found->placement), found->seconds, 0};
      rated.row = consider({policy, rated.seconds, ConsideredPlacement::Outcome::Planned, found->split,
                            computingDevices(rated.placement, machine_)});
    }
  }

  // One that puts every op where `before` does takes its row: no placement is considered twice.
  Result<Rated> whole(const Graph& fused, const std::string& policy, const Rated* before = nullptr) {
    auto placement = place(fused, machine_, cost_, policy, lowerOptionsOf(quiet_));
    if (!placement) {
      return placement.errors();
    }
    const bool isSame = before != nullptr && sameDevices(before->placement, *placement);
    const size_t row = isSame ? before->row : consider({placement->policy});
    considered_.candidates[row].description = placement->policy;
    considered_.candidates[row].devices = computingDevices(*placement, machine_);
    Rated rated{*std::move(placement), never, row};
    rate(rated, uncut_, policy);
    need_.note(std::move(rated.need));
    return rated;
  }

  size_t consider(ConsideredPlacement row) {
    considered_.candidates.push_back(std::move(row));
    return considered_.candidates.size() - 1;
  }

  // `most`: the seconds of the best so far.
  void rate(Rated& rated, const Graph& unfused, const std::string& policy, double most = never) {
    using Outcome = ConsideredPlacement::Outcome;
    const SplitGraph* const split = considered_.candidates[rated.row].split.get();
    const BatchUse batch = split != nullptr && split->plan.gathers ? BatchUse::AsItIs : BatchUse::MayBeCut;
    const UpdateUse updates = isPinned_ ? UpdateUse::AsPlaced : UpdateUse::MayMove;
    auto fitted =
        fitCandidate(rated.placement, unfused, policy, machine_, cost_, quiet_, most, batch, updates);
    rated.seconds = fitted.seconds.value_or(never);
    rated.isShort = fitted.isShort;
    rated.need = std::move(fitted.need);
    ConsideredPlacement& row = considered_.candidates[rated.row];
    row.description = rated.placement.policy;
    row.outcome = fitted.seconds     ? Outcome::Planned
                  : fitted.isTooSlow ? Outcome::Scheduled
                                     : Outcome::DoesNotFit;
    row.seconds = fitted.seconds.value_or(row.seconds);
  }

  // The quickest split that fits into memory; where none fits, the quickest.
  Diagnostics findSplit(std::optional<Rated>& best, MayGain mayGain) {
    auto found = splitCandidates(graph_, machine_, cost_, quiet_.splits, mayGain);
    if (!found) {
      return found.errors();
    }
    Diagnostics errors = rateQuickest(*std::move(found), best);
    const bool hasWishes = !quiet_.splits.empty() || !graph_.opsOf(OpKind::Cut).empty();
    return !errors.empty() || hasWishes || !isSlowedByMemory(best) ? errors : splitState(best, mayGain);
  }

  // Whether none fits, or the quickest takes much longer than a step without a memory limit.
  bool isSlowedByMemory(const std::optional<Rated>& best) const {
    double least = never;
    for (const ConsideredPlacement& row : considered_.candidates) {
      least = row.split ? std::min(least, row.makespan) : least;
    }
    return !best || best->seconds == never || (best->isShort && best->seconds > slowedByMemory * least);
  }

  // Parameters in parts, and the batch in ever more parts as long as that gains seconds or memory.
  Diagnostics splitState(std::optional<Rated>& best, MayGain mayGain) {
    Diagnostics errors = rateQuickest(candidatesForLittleMemory(uncut_, machine_, cost_, mayGain), best);
    const size_t copies = std::max<size_t>(1, graph_.opCount() * machine_.devices.size());
    const size_t most = std::min(mostBatches, mostOpsInBatches / copies);
    double before = never; // the need with fewer
    for (size_t batches = 2; batches <= most && errors.empty() && isSlowedByMemory(best); batches *= 2) {
      auto found = batchesInLittleMemory(uncut_, batches, machine_, cost_, mayGain);
      if (found.empty()) {
        break;
      }
      const double seconds = best ? best->seconds : never;
      LeastNeed others = std::exchange(need_, {});
      errors = rateQuickest(std::move(found), best);
      const double need = need_.use();
      need_.note(std::move(others));
      const bool isQuicker = best && best->seconds < seconds;
      if (!isQuicker && (seconds < never || need >= lessMemory * before)) {
        break;
      }
      before = need;
    }
    return errors;
  }

  // Plans those with the shortest makespans, and puts the quickest into `best` if it is quicker.
  Diagnostics rateQuickest(std::vector<SplitGraph> found, std::optional<Rated>& best) {
    std::vector<std::optional<Result<Rated>>> placed(found.size());
    inTurnOrAtOnce(found.size(), [&](size_t i) { placed[i].emplace(placedSplit(found[i])); });
    std::vector<Rated> candidates;
    for (size_t i = 0; i < found.size(); ++i) {
      if (!*placed[i]) {
        return placed[i]->errors();
      }
      Rated& one = candidates.emplace_back(**std::move(placed[i]));
      one.row = consider({one.placement.policy,
                          one.seconds,
                          one.outcome,
                          std::make_shared<SplitGraph>(std::move(found[i])),
                          {},
                          one.seconds});
    }
    llvm::stable_sort(candidates, [](const Rated& a, const Rated& b) { return a.seconds < b.seconds; });
    const bool isSmall = graph_.opCount() <= mostOpsOfSmall;
    const size_t most = isSmall ? mostPlannedOfSmall : mostPlanned;
    for (size_t from = 0, planned = 0; from < candidates.size() && planned < most;) {
      size_t count = isSmall ? 1 : std::min(most - planned, candidates.size() - from);
      while (best && count > 0 && candidates[from + count - 1].seconds > hopeless * best->seconds) {
        --count;
      }
      if (count == 0) {
        break;
      }
      const double bestSoFar = best ? best->seconds : never;
      inTurnOrAtOnce(count, [&](size_t i) {
        Rated& one = candidates[from + i];
        rate(one, considered_.candidates[one.row].split->graph, "pins", bestSoFar);
      });
      for (size_t i = from; i < from + count; ++i) {
        const bool fits = candidates[i].seconds < never;
        need_.note(std::move(candidates[i].need));
        if (!best || candidates[i].seconds < best->seconds) {
          best = std::move(candidates[i]);
        }
        planned += fits || !isSlowedByMemory(best) ? 1 : 0;
      }
      from += count;
    }
    return {};
  }

  // On several threads, but for small graphs, which take no longer than to start these.
  void inTurnOrAtOnce(size_t count, llvm::function_ref<void(size_t)> work) const {
    if (graph_.opCount() > mostOpsOfSmall) {
      return forEach(count, work);
    }
    for (size_t i = 0; i < count; ++i) {
      work(i);
    }
  }

  Result<Rated> placedSplit(const SplitGraph& candidate) const {
    auto fused = runPasses(PassPhase::Fuse, candidate.graph, machine_, quiet_);
    auto placed = fused ? place(*fused, machine_, cost_, "pins") : Result<Placement>(fused.errors());
    if (!placed) {
      return placed.errors();
    }
    placed->policy = candidate.description;
    const auto transposed = withTransposedOperands(*placed, machine_);
    const Placement& quickest = transposed ? *transposed : *placed;
    const PlacementProblem problem = decided(quickest, machine_, cost_, lowerOptionsOf(quiet_));
    const double least = makespanBound(quickest, problem);
    if (least > most_) {
      return Rated{*std::move(placed), least, 0, ConsideredPlacement::Outcome::Bounded};
    }
    const double seconds = predictedMakespan(quickest, problem);
    return Rated{*std::move(placed), seconds};
  }

  // Whether the efficiency over the largest class of alike devices is low, or nothing fits.
  bool leavesIdle(double seconds, double alone) const {
    size_t most = 1;
    for (const std::vector<DeviceId>& one : deviceClasses(machine_)) {
      most = std::max(most, one.size());
    }
    return seconds == never || alone == never || alone < (1 - mostIdle) * static_cast<double>(most) * seconds;
  }

  const Graph &graph_, &uncut_;
  const Machine& machine_;
  const CostModel& cost_;
  CompileOptions quiet_;
  const bool isPinned_; ///< whether the author says where an op runs
  double most_ = never; ///< seconds of a step from which a split is no candidate
  ConsideredPlacements considered_;
  LeastNeed need_; ///< of what does not fit
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

Diagnostic policyWithoutCuts(const std::string& policy, llvm::ArrayRef<TakenCut> cuts) {
  Diagnostic error =
      errorWithoutPlace(fmt::format("policy '{}' places whole ops, and cuts of values are asked for", policy),
                        "leave out one of them; policies auto and split take cuts");
  if (!cuts.empty()) {
    error.where = cuts.front().where;
    error = inScope(std::move(error), cuts.front().scope);
  }
  return error;
}

} // namespace

Result<Placement> choosePlacement(const Graph& graph, const Machine& machine, const CostModel& cost,
                                  const CompileOptions& options) {
  const bool mayUseAll = options.policy == "auto" || options.policy == "split";
  if (mayUseAll && machine.devices.size() > mostPlannedDevices) {
    return errorWithoutPlace(
        fmt::format("a plan is made for at most {} devices, and machine '{}' has {}", mostPlannedDevices,
                    machine.name, machine.devices.size()),
        "dfc explain says how the graph would run on all of them; plan for a machine file with fewer");
  }
  TakenCuts whole = takeCuts(graph);
  if (machine.devices.size() < 2) {
    whole.cuts.clear();
  }
  const bool wantsCuts = !options.splits.empty() || !whole.cuts.empty();
  const bool wantsSplit = wantsCuts || options.policy == "split";
  if (wantsCuts && options.policy != "split" && options.policy != "auto") {
    return policyWithoutCuts(options.policy, whole.cuts);
  }
  const auto fused = runPasses(PassPhase::Fuse, whole.graph, machine, options);
  if (!fused) {
    return fused.errors();
  }
  PlacementChoice choice(graph, whole.graph, machine, cost, options);
  if (!wantsSplit && options.policy != "auto") {
    auto only = place(*fused, machine, cost, options.policy, lowerOptionsOf(options)); // nothing is compared
    if (!only) {
      return only;
    }
    auto transposed = withTransposedOperands(*only, machine);
    if (fitsInto(machine, memoryDemand(transposed ? *transposed : *only, machine).most)) {
      return transposed ? *std::move(transposed) : *std::move(only);
    }
    CompileOptions quiet = options;
    quiet.observer = nullptr; // observers see one plan, no trials
    const auto fitted = fitCandidate(*only, whole.graph, options.policy, machine, cost, quiet);
    if (!fitted.seconds && fitted.need.placement()) {
      return *fitted.need.placement(); // its errors say how much it needs
    }
    return only;
  }
  auto placement = wantsSplit ? choice.bestSplit(*fused) : choice.best(*fused);
  if (options.observer != nullptr) {
    options.observer->considered(choice.considered());
  }
  return placement;
}

} // namespace dfc
