#include "compiler/choose_placement.h"

#include "compiler/place/place.h"
#include "compiler/run_passes.h"
#include "compiler/schedule/schedule.h"
#include "compiler/split/split.h"
#include "compiler/transfer/insert_transfers.h"

namespace dfc {
namespace {

/// What a split must gain over the best plan without one: a device left idle is worth more than a
/// prediction's error.
constexpr double worthwhile = 0.98;

double predictedSeconds(const Placement& placement, const Machine& machine, const CostModel& cost) {
  return predictedMakespan(insertTransfers(placement, machine), machine, cost);
}

Result<Placement> placed(Graph graph, const Machine& machine, const CostModel& cost,
                         const CompileOptions& options, const std::string& policy) {
  auto fused = runPasses(PassPhase::Fuse, std::move(graph), machine, options);
  if (!fused) {
    return fused.errors();
  }
  return place(*fused, machine, cost, policy);
}

} // namespace

Result<Placement> choosePlacement(const Graph& graph, const Machine& machine, const CostModel& cost,
                                  const CompileOptions& options) {
  const bool any = options.policy == "auto", onlySplit = options.policy == "split";
  auto best = placed(graph, machine, cost, options, any || onlySplit ? "heft" : options.policy);
  if (!best || !(any || onlySplit)) {
    return best;
  }
  double least = onlySplit ? std::numeric_limits<double>::infinity()
                           : worthwhile * predictedSeconds(*best, machine, cost);
  CompileOptions quiet = options;
  quiet.observer = nullptr;
  for (SplitGraph& candidate : splitCandidates(graph, machine, cost)) {
    auto split = placed(std::move(candidate.graph), machine, cost, quiet, "pins");
    if (!split) {
      return split.errors();
    }
    const double seconds = predictedSeconds(*split, machine, cost);
    if (seconds < least) {
      least = seconds;
      split->policy = candidate.description;
      best = std::move(split);
    }
  }
  return best;
}

} // namespace dfc
