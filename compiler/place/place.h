// Placement: which device each op runs on. Pins are settled first, for every policy; a policy decides the
// rest.
#pragma once

#include "compiler/cost/cost_model.h"
#include "compiler/lower/lower.h"
#include "compiler/place/pins.h"
#include "compiler/schedule/schedule_problem.h"
#include "ir/plan/placement.h"

namespace dfc {

/// Everything that a policy sees. `pins`: the device that an op must have, invalid for none.
struct PlacementProblem {
  const Graph& graph;
  const Machine& machine;
  const CostModel& cost;
  SideTable<OpId, DeviceId> pins;
  LowerOptions lowering = {}; ///< of the plan that will be made
};

/// What a schedule has to know of it.
inline LaunchForms formsOf(const LowerOptions& lowering) {
  return {lowering.peerReads, lowering.mergeLaunches};
}

#define DFC_POLICY(function, name, what) Placement function(const PlacementProblem& problem);
#include "compiler/place/policies.def"
#undef DFC_POLICY

struct PolicyRow {
  Placement (*run)(const PlacementProblem&);
  std::string_view name;
  std::string_view what;
};
llvm::ArrayRef<PolicyRow> allPolicies();

/// Applies pins, then the policy of that name. Errors: an unknown policy, or, all at once, ops that cannot
/// run on the device that they are pinned to or were placed on.
Result<Placement> place(const Graph& graph, const Machine& machine, const CostModel& cost,
                        const std::string& policy, const LowerOptions& lowering = {});

/// All ops without a pin on `device`, as far as they may be there.
Placement placeOn(const PlacementProblem& problem, DeviceId device);
/// `placeOn` for each device; for identical devices once.
std::vector<Placement> oneDeviceEach(const PlacementProblem& problem);
/// The placement problem of an existing placement: an argument of `predictedMakespan` and `plannedSeconds`.
/// It has no pins, which the placement already satisfies. Refers to `placement`, which must outlive it.
PlacementProblem decided(const Placement& placement, const Machine& machine, const CostModel& cost,
                         const LowerOptions& lowering);
/// Whether every op is on the same device; false for graphs of other ops, such as one with ops computed
/// twice.
bool sameDevices(const Placement& a, const Placement& b);
/// The makespan that the scheduler predicts for a placement, in seconds. `least`: a lower bound, 0 if
/// unknown.
double predictedMakespan(const Placement& placement, const PlacementProblem& problem, double least = 0);
/// The candidate with the smallest predicted makespan; the earliest on a tie. Candidates whose
/// `makespanBound` exceeds the best so far are not scheduled.
Placement fastest(std::vector<Placement> candidates, const PlacementProblem& problem);

} // namespace dfc
