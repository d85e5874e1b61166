#include "compiler/place/place.h"

#include "compiler/place/makespan_bound.h"
#include "compiler/place/runnable.h"
#include "compiler/schedule/schedule.h"
#include "compiler/transfer/insert_transfers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

namespace dfc {
namespace {

constexpr std::array policies = {
#define DFC_POLICY(function, name, what) PolicyRow{function, name, what},
#include "compiler/place/policies.def"
#undef DFC_POLICY
};

/// "cpu0 alone", or which other devices pinned ops take the plan to: "cpu0, and gpu0, gpu1 by pins".
std::string nameOfSingle(const PlacementProblem& problem, DeviceId device) {
  SideTable<DeviceId, bool> pinned(problem.machine.devices.size());
  for (const OpId op : problem.graph.ops()) {
    const DeviceId pin = problem.pins[op];
    if (pin.valid() && problem.graph[op].kind() != OpKind::Input) {
      pinned[pin] = true;
    }
  }
  std::vector<std::string> others;
  for (const DeviceId other : problem.machine.devices.ids()) {
    if (pinned[other] && other != device) {
      others.push_back(problem.machine.devices[other].name);
    }
  }
  const std::string& name = problem.machine.devices[device].name;
  return others.empty() ? name + " alone" : fmt::format("{}, and {} by pins", name, fmt::join(others, ", "));
}

// Scheduling a large graph takes long, so equal placements are scheduled once.
void dropRepeated(std::vector<Placement>& candidates) {
  std::vector<Placement> kept;
  for (Placement& candidate : candidates) {
    if (llvm::none_of(kept, [&](const Placement& other) { return sameDevices(candidate, other); })) {
      kept.push_back(std::move(candidate));
    }
  }
  candidates = std::move(kept);
}

/// The indices of `numbers`, that of the smallest first.
std::vector<size_t> inOrderOf(const std::vector<double>& numbers) {
  std::vector<size_t> order(numbers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return numbers[a] < numbers[b]; });
  return order;
}

Diagnostic unknownPolicy(const std::string& name) {
  std::vector<std::string> names;
  names.reserve(std::size(policies));
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
                        const std::string& name, const LowerOptions& lowering) {
  for (const PolicyRow& policy : policies) {
    if (policy.name != name) {
      continue;
    }
    auto pins = resolvePins(graph, machine);
    if (!pins) {
      return pins.errors();
    }
    const PlacementProblem problem{graph, machine, cost, *std::move(pins), lowering};
    if (Diagnostics errors = checkRunsSomewhere(problem); !errors.empty()) {
      return errors;
    }
    Placement placement = policy.run(problem);
    if (Diagnostics errors = checkRunsThere(placement, problem); !errors.empty()) {
      return errors;
    }
    return placement;
  }
  return unknownPolicy(name);
}

Placement placeOn(const PlacementProblem& problem, DeviceId device) {
  Placement placement{problem.graph, SideTable<OpId, DeviceId>(problem.graph.opCount(), device),
                      nameOfSingle(problem, device)};
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

PlacementProblem decided(const Placement& placement, const Machine& machine, const CostModel& cost,
                         const LowerOptions& lowering) {
  return {placement.graph, machine, cost, SideTable<OpId, DeviceId>(placement.graph.opCount()), lowering};
}

bool sameDevices(const Placement& a, const Placement& b) {
  return a.graph.opCount() == b.graph.opCount() &&
         llvm::all_of(a.graph.ops(), [&](OpId op) { return a.device[op] == b.device[op]; });
}

double predictedMakespan(const Placement& placement, const PlacementProblem& problem, double least) {
  const auto placed = insertTransfers(placement, problem.machine);
  return predictedMakespan(placed, problem.machine, problem.cost, least, formsOf(problem.lowering));
}

Placement fastest(std::vector<Placement> candidates, const PlacementProblem& problem) {
  dropRepeated(candidates);
  if (candidates.size() == 1) {
    return std::move(candidates.front()); // nothing to compare it with
  }
  std::vector<double> least;
  least.reserve(candidates.size());
  for (const Placement& candidate : candidates) {
    least.push_back(makespanBound(candidate, problem));
  }
  size_t best = 0;
  double bestSeconds = std::numeric_limits<double>::infinity();
  for (const size_t i : inOrderOf(least)) {
    const double seconds =
        least[i] > bestSeconds ? least[i] : predictedMakespan(candidates[i], problem, least[i]);
    if (seconds < bestSeconds || (seconds == bestSeconds && i < best)) {
      bestSeconds = seconds;
      best = i;
    }
  }
  return std::move(candidates[best]);
}

} // namespace dfc
