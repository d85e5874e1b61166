#include "compiler/search_placement.h"

#include "compiler/lower_options.h"
#include "compiler/operands/transposed_operands.h"
#include "compiler/place/memory_demand.h"
#include "compiler/place/planned_seconds.h"
#include "compiler/place/search_whole_ops.h"
#include "compiler/run_passes.h"
#include "compiler/split/search/improve_split.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace dfc {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr uint64_t unlimited = std::numeric_limits<uint64_t>::max(); ///< steps
/// Candidates of larger graphs are planned in full only where their makespan is near the best.
constexpr size_t mostOpsPlanned = 200;
constexpr double near = 1.03; ///< times the makespan of the best

/// Limits of a search.
struct Limits {
  uint64_t certain = 0; ///< steps that are made even after `seconds`
  uint64_t steps = 0;   ///< in total, `certain` included
  double seconds = infinite;
  bool isAsked = false; ///< whether the caller set a limit
};

Limits limitsOf(const Graph& graph, const Machine& machine, const CompileOptions& options) {
  const bool hasSeconds = options.planSeconds > 0;
  if (!options.planSteps) {
    const uint64_t steps = defaultPlanSteps(graph, machine);
    return {steps, hasSeconds ? unlimited : steps, hasSeconds ? options.planSeconds : infinite, hasSeconds};
  }
  if (*options.planSteps == 0) {
    return hasSeconds ? Limits{0, unlimited, options.planSeconds, true} : Limits{};
  }
  return {0, *options.planSteps, hasSeconds ? options.planSeconds : infinite, true};
}

/// Without limits from the caller, splits are not searched if the quickest one takes this multiple of the
/// chosen plan's seconds.
constexpr double hopelessSplit = 1.3;

/// A part of what is left of the limits.
class Budget {
 public:
  Budget(const Limits& limits, std::chrono::steady_clock::time_point begin, uint64_t used, double part)
      : certain_(partOf(limits.certain, used, part)), steps_(partOf(limits.steps, used, part)) {
    if (std::isfinite(limits.seconds)) {
      begin_ = std::chrono::steady_clock::now();
      const std::chrono::duration<double> spent = begin_ - begin;
      seconds_ = part * std::max(0.0, limits.seconds - spent.count());
    }
  }

  bool takeStep() {
    if (taken_ >= steps_ || (taken_ >= certain_ && isLate())) {
      return false;
    }
    ++taken_;
    return true;
  }
  uint64_t taken() const { return taken_; }

 private:
  static uint64_t partOf(uint64_t whole, uint64_t used, double part) {
    const uint64_t left = whole - std::min(used, whole);
    return part < 1 && whole != unlimited ? static_cast<uint64_t>(part * static_cast<double>(left)) : left;
  }

  bool isLate() const {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin_;
    return std::isfinite(seconds_) && spent.count() >= seconds_;
  }

  uint64_t certain_, steps_, taken_ = 0;
  double seconds_ = infinite;
  std::chrono::steady_clock::time_point begin_;
};

class PlacementSearch {
 public:
  PlacementSearch(const SearchStart& start, const Machine& machine, const CostModel& cost,
                  const CompileOptions& options)
      : start_(start), machine_(machine), cost_(cost), options_(options) {}

  std::optional<FoundPlacement> run(const Limits& limits, bool wholeOpsToo) {
    // A limit of the caller is shared; without one, the search over splits is as long as that of the policy
    // `split`, so that this never finds more.
    const bool isShared = wholeOpsToo && limits.isAsked;
    Budget splits(limits, start_.begin, 0, isShared ? 0.5 : 1);
    if (limits.isAsked || start_.isSplit || start_.splitSeconds < hopelessSplit * start_.seconds) {
      searchSplits(splits);
    }
    if (isShared) { // without a limit of the caller, policy `auto` of compiler/place has searched enough
      Budget rest(limits, start_.begin, splits.taken(), 1);
      searchWhole(rest);
    }
    return std::move(best_);
  }

 private:
  void searchSplits(Budget& budget) {
    least_ = start_.isSplit ? start_.seconds : start_.mostOfSplit;
    std::shared_ptr<const SplitGraph> first = start_.split;
    secondsOfBest_ = start_.splitSeconds;
    if (first) {
      makespanOfBest_ = makespanOf(*first);
    } else {
      auto any = anySplit(start_.graph, machine_, cost_);
      if (!any || !budget.takeStep()) {
        return;
      }
      first = std::make_shared<SplitGraph>(*any);
      rate(*std::move(any), infinite);
    }
    const SplitRating rating{
        [&](SplitGraph candidate, double limit) { return rate(std::move(candidate), limit); },
        [&] { return budget.takeStep(); }};
    improveSplit(*first, secondsOfBest_, machine_, cost_, rating);
    if (best_) {
      best_->placement.policy += ", improved by search";
    }
  }

  PlacementProblem problemOf(const Placement& placement) const {
    return decided(placement, machine_, cost_, lowerOptionsOf(options_));
  }

  Result<Placement> placed(const SplitGraph& split) const {
    auto fused = runPasses(PassPhase::Fuse, split.graph, machine_, options_);
    auto placement = fused ? place(*fused, machine_, cost_, "pins") : Result<Placement>(fused.errors());
    if (auto transposed = placement ? withTransposedOperands(*placement, machine_) : std::nullopt) {
      return *std::move(transposed);
    }
    return placement;
  }

  double makespanOf(const SplitGraph& split) const {
    const auto placement = placed(split);
    return placement ? predictedMakespan(*placement, problemOf(*placement)) : infinite;
  }

  double rate(SplitGraph candidate, double limit) {
    auto placement = placed(candidate);
    if (!placement) {
      return infinite;
    }
    const PlacementProblem problem = problemOf(*placement);
    const bool isSmall = placement->graph.opCount() <= mostOpsPlanned;
    const double makespan = isSmall ? 0 : predictedMakespan(*placement, problem);
    const double estimate =
        std::isfinite(makespanOfBest_) ? makespan * (secondsOfBest_ / makespanOfBest_) : makespan;
    if (!isSmall && (makespan > near * makespanOfBest_ || estimate > near * limit)) {
      return estimate;
    }
    const auto planned = plannedSeconds(*placement, problem);
    const double seconds = planned ? planned->seconds : infinite;
    if (seconds < secondsOfBest_) {
      secondsOfBest_ = seconds;
      makespanOfBest_ = isSmall ? makespanOfBest_ : makespan;
    }
    if (seconds < least_) {
      least_ = seconds;
      placement->policy = candidate.description;
      best_ =
          FoundPlacement{*std::move(placement), seconds, std::make_shared<SplitGraph>(std::move(candidate))};
    }
    return seconds;
  }

  void searchWhole(Budget& budget) {
    Placement found = searchWholeOps(start_.chosen, machine_, cost_, lowerOptionsOf(options_),
                                     [&] { return budget.takeStep(); });
    if (sameDevices(found, start_.chosen)) {
      return;
    }
    const auto planned = plannedSeconds(found, problemOf(found));
    const double mostOfSplit = planned ? planned->seconds * (start_.mostOfSplit / start_.seconds) : infinite;
    if (planned && planned->seconds < start_.seconds && !(best_ && best_->seconds < mostOfSplit)) {
      best_ = FoundPlacement{std::move(found), planned->seconds, nullptr};
    }
  }

  const SearchStart& start_;
  const Machine& machine_;
  const CostModel& cost_;
  const CompileOptions& options_;
  double least_ = infinite;                                     ///< seconds of the best that would be chosen
  double makespanOfBest_ = infinite, secondsOfBest_ = infinite; ///< of splits
  std::optional<FoundPlacement> best_;
};

} // namespace

uint64_t defaultPlanSteps(const Graph& graph, const Machine& machine) {
  constexpr uint64_t work = 12'000; // ops times devices, summed over all steps
  constexpr uint64_t mostSteps = 250, leastSteps = 100;
  const uint64_t steps = work / std::max<uint64_t>(1, graph.opCount() * machine.devices.size());
  return steps < leastSteps ? 0 : std::min(steps, mostSteps);
}

std::optional<FoundPlacement> searchPlacement(const SearchStart& start, const Machine& machine,
                                              const CostModel& cost, const CompileOptions& options) {
  if (machine.devices.size() < 2) {
    return std::nullopt;
  }
  const Limits limits = limitsOf(start.graph, machine, options);
  if (limits.steps == 0) {
    return std::nullopt;
  }
  // If memory is short, planning a step takes longer than the default number of steps assumes.
  if (!limits.isAsked && !fitsInto(machine, memoryDemand(start.chosen, machine).likely)) {
    return std::nullopt;
  }
  const bool wholeOpsToo = !start.isSplit && options.policy == "auto";
  return PlacementSearch(start, machine, cost, options).run(limits, wholeOpsToo);
}

} // namespace dfc
