#include "compiler/search_placement.h"

#include "compiler/lower_options.h"
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
/// Candidates of larger graphs are planned in full only where their makespan is near the best.
constexpr size_t mostOpsPlanned = 200;
constexpr double near = 1.03; ///< times the makespan of the best

/// A part of what is left of the limits.
class Budget {
 public:
  Budget(const CompileOptions& options, std::chrono::steady_clock::time_point begin, uint64_t used,
         double part)
      : steps_(options.planSteps) {
    const auto left = static_cast<double>(options.planSteps - std::min(used, options.planSteps));
    steps_ =
        options.planSteps == 0 ? std::numeric_limits<uint64_t>::max() : static_cast<uint64_t>(part * left);
    const auto now = std::chrono::steady_clock::now();
    const std::chrono::duration<double> whole(options.planSeconds);
    const std::chrono::duration<double> spent = now - begin;
    seconds_ = options.planSeconds <= 0 ? infinite : part * std::max(0.0, (whole - spent).count());
    begin_ = now;
  }

  bool takeStep() {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin_;
    if (taken_ >= steps_ || spent.count() >= seconds_) {
      return false;
    }
    ++taken_;
    return true;
  }
  uint64_t taken() const { return taken_; }

 private:
  uint64_t steps_, taken_ = 0;
  double seconds_ = infinite;
  std::chrono::steady_clock::time_point begin_;
};

class PlacementSearch {
 public:
  PlacementSearch(const SearchStart& start, const Machine& machine, const CostModel& cost,
                  const CompileOptions& options)
      : start_(start), machine_(machine), cost_(cost), options_(options) {}

  std::optional<FoundPlacement> run(bool wholeOpsToo) {
    Budget splits(options_, start_.begin, 0, wholeOpsToo ? 0.5 : 1);
    searchSplits(splits);
    if (!best_ && wholeOpsToo) {
      Budget rest(options_, start_.begin, splits.taken(), 1);
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
    return fused ? place(*fused, machine_, cost_, "pins") : Result<Placement>(fused.errors());
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
    if (planned && planned->seconds < start_.seconds) {
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

std::optional<FoundPlacement> searchPlacement(const SearchStart& start, const Machine& machine,
                                              const CostModel& cost, const CompileOptions& options) {
  const bool isAsked = options.planSeconds > 0 || options.planSteps > 0;
  if (!isAsked || machine.devices.size() < 2) {
    return std::nullopt;
  }
  const bool wholeOpsToo = !start.isSplit && options.policy == "auto";
  return PlacementSearch(start, machine, cost, options).run(wholeOpsToo);
}

} // namespace dfc
