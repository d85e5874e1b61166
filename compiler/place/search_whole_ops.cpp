#include "compiler/place/search_whole_ops.h"

#include "compiler/place/improve_placement.h"

namespace dfc {

Placement searchWholeOps(const Placement& start, const Machine& machine, const CostModel& cost,
                         const LowerOptions& lowering, llvm::function_ref<bool()> goesOn) {
  auto pins = resolvePins(start.graph, machine);
  if (!pins) {
    return start; // refused before
  }
  const PlacementProblem problem{start.graph, machine, cost, *std::move(pins), lowering};
  RatedPlacements rated(problem);
  rated.planPolicy(start);
  rated.offer(start);
  if (rated.empty()) {
    return start;
  }
  PlacementImprover(problem, rated).runWhile(goesOn);
  rated.planBest();
  return rated.bestPlanned().placement;
}

} // namespace dfc
