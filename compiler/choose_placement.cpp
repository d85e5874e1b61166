#include "compiler/choose_placement.h"

#include "compiler/place/place.h"
#include "compiler/place/planned_seconds.h"
#include "compiler/run_passes.h"
#include "compiler/split/split.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace dfc {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

/// What more devices must leave of a plan's seconds: less of a gain is within what predictions miss.
constexpr double worthwhile = 0.98;
/// A split that leaves so much of the seconds of one device is not searched past: placements of whole ops
/// spread over devices seldom gain as much.
constexpr double wellSplit = 0.67;
/// Split plans whose memory and launches are planned, of those with the least predicted makespan.
constexpr size_t mostPlanned = 3;

/// A placement and what its plan takes; infinity where it does not fit into memory.
struct Rated {
  Placement placement;
  double seconds = never;
};

class PlacementChoice {
 public:
  PlacementChoice(const Graph& graph, const Machine& machine, const CostModel& cost,
                  const CompileOptions& options)
      : graph_(graph), machine_(machine), cost_(cost), quiet_(options) {
    quiet_.observer = nullptr;
  }

  Result<Placement> best(const Graph& fused) {
    auto alone = place(fused, machine_, cost_, "single");
    const double onOne = alone ? secondsOf(*alone) : never;
    std::optional<Rated> split;
    if (Diagnostics errors = findSplit(split); !errors.empty()) {
      return errors;
    }
    if (split && split->seconds < wellSplit * onOne) {
      return std::move(split->placement);
    }
    auto whole = place(fused, machine_, cost_, "auto");
    if (!whole || !split || split->seconds >= worthwhile * secondsOf(*whole)) {
      return whole;
    }
    return std::move(split->placement);
  }

  Result<Placement> bestSplit(const Graph& fused) {
    std::optional<Rated> split;
    if (Diagnostics errors = findSplit(split); !errors.empty()) {
      return errors;
    }
    return split ? Result<Placement>(std::move(split->placement)) : place(fused, machine_, cost_, "single");
  }

 private:
  double secondsOf(const Placement& placement) const {
    const PlacementProblem problem{placement.graph, machine_, cost_,
                                   SideTable<OpId, DeviceId>(placement.graph.opCount())};
    const auto planned = plannedSeconds(placement, problem);
    return planned ? planned->seconds : never;
  }

  // The quickest split that fits into memory; where none fits, the quickest.
  Diagnostics findSplit(std::optional<Rated>& best) const {
    auto found = splitCandidates(graph_, machine_, cost_, quiet_.splits);
    if (!found) {
      return found.errors();
    }
    std::vector<Rated> candidates;
    for (SplitGraph& candidate : *found) {
      auto fused = runPasses(PassPhase::Fuse, std::move(candidate.graph), machine_, quiet_);
      auto placed = fused ? place(*fused, machine_, cost_, "pins") : Result<Placement>(fused.errors());
      if (!placed) {
        return placed.errors();
      }
      placed->policy = candidate.description;
      const PlacementProblem problem{placed->graph, machine_, cost_,
                                     SideTable<OpId, DeviceId>(placed->graph.opCount())};
      const double seconds = predictedMakespan(*placed, problem);
      candidates.push_back({*std::move(placed), seconds});
    }
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Rated& a, const Rated& b) { return a.seconds < b.seconds; });
    size_t planned = 0;
    for (Rated& candidate : candidates) {
      candidate.seconds = secondsOf(candidate.placement);
      if (!best || candidate.seconds < best->seconds) {
        best = std::move(candidate);
      }
      planned += best->seconds < never ? 1 : 0;
      if (planned == mostPlanned) {
        break;
      }
    }
    return {};
  }

  const Graph& graph_;
  const Machine& machine_;
  const CostModel& cost_;
  CompileOptions quiet_;
};

} // namespace

Result<Placement> choosePlacement(const Graph& graph, const Machine& machine, const CostModel& cost,
                                  const CompileOptions& options) {
  const auto fused = runPasses(PassPhase::Fuse, graph, machine, options);
  if (!fused) {
    return fused.errors();
  }
  PlacementChoice choice(graph, machine, cost, options);
  return !options.splits.empty() || options.policy == "split" ? choice.bestSplit(*fused)
         : options.policy == "auto"                           ? choice.best(*fused)
                                                              : place(*fused, machine, cost, options.policy);
}

} // namespace dfc
