#include "compiler/place/place.h"

#include "compiler/schedule/schedule.h"
#include "compiler/transfer/insert_transfers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

namespace dfc {
namespace {

constexpr std::array policies = {
#define DFC_POLICY(function, name, what) PolicyRow{function, name, what},
#include "compiler/place/policies.def"
#undef DFC_POLICY
};

Diagnostic unknownPolicy(const std::string& name) {
  std::vector<std::string> names;
  for (const PolicyRow& row : policies) {
    names.emplace_back(row.name);
  }
  const auto near = nearestName(name, names);
  return errorWithoutPlace(fmt::format("there is no placement policy '{}'", name),
                           near ? fmt::format("did you mean '{}'?", *near)
                                : fmt::format("the policies are {}", fmt::join(names, ", ")));
}

} // namespace

llvm::ArrayRef<PolicyRow> allPolicies() { return policies; }

Result<Placement> place(const Graph& graph, const Machine& machine, const CostModel& cost,
                        const std::string& name) {
  for (const PolicyRow& policy : policies) {
    if (policy.name != name) {
      continue;
    }
    auto pins = resolvePins(graph, machine);
    if (!pins) {
      return pins.errors();
    }
    return policy.run({graph, machine, cost, *std::move(pins)});
  }
  return unknownPolicy(name);
}

Placement placeOn(const PlacementProblem& problem, DeviceId device) {
  Placement placement{problem.graph, SideTable<OpId, DeviceId>(problem.graph.opCount(), device),
                      problem.machine.devices[device].name + " alone"};
  for (const OpId op : problem.graph.ops()) {
    const OpRow& row = problem.graph[op];
    if (problem.pins[op].valid()) {
      placement.device[op] = problem.pins[op];
    } else if (row.kind() == OpKind::Input) {
      placement.device[op] = problem.machine.host();
    }
  }
  return placement;
}

double predictedMakespan(const Placement& placement, const PlacementProblem& problem) {
  const auto placed = insertTransfers(placement, problem.machine);
  return makeSchedule(placed, problem.machine, problem.cost).makespan;
}

Placement fastest(std::vector<Placement> candidates, const PlacementProblem& problem) {
  size_t best = 0;
  double bestSeconds = predictedMakespan(candidates[0], problem);
  for (size_t i = 1; i < candidates.size(); ++i) {
    const double seconds = predictedMakespan(candidates[i], problem);
    if (seconds < bestSeconds) {
      bestSeconds = seconds;
      best = i;
    }
  }
  return std::move(candidates[best]);
}

} // namespace dfc
