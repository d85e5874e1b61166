#include "compiler/place/even_links.h"

#include "ir/plan/placed_graph.h"

#include <algorithm>
#include <cmath>

namespace dfc {
namespace {

/// Seconds to copy an average result, in those of an average op. Links at which copies cost more leave all on
/// one device.
constexpr double communication[] = {0.1, 1};

struct AverageOp {
  double seconds = 0, bytes = 0;
};

AverageOp averageOp(const PlacementProblem& problem) {
  constexpr uint32_t devices = 2;
  const Graph& graph = problem.graph;
  AverageOp sum;
  double count = 0;
  for (const OpId op : graph.ops()) {
    if (isResident(graph[op].kind())) {
      continue;
    }
    double least = std::numeric_limits<double>::infinity();
    for (uint32_t device = 0; device < std::min<size_t>(devices, problem.machine.devices.size()); ++device) {
      least = std::min(least, problem.cost.opSeconds(graph, op, problem.machine, DeviceId(device)));
    }
    sum.seconds += std::isfinite(least) ? least : 0;
    sum.bytes += static_cast<double>(graph.typeOf(graph[op].firstResult).bytes());
    ++count;
  }
  return count > 0 ? AverageOp{sum.seconds / count, sum.bytes / count} : sum;
}

/// Half of the time of a copy is latency.
Machine withLinks(Machine machine, double seconds, double bytes) {
  constexpr double fastest = 1e18; // bytes a second
  for (const DeviceId device : machine.devices.ids()) {
    machine.devices[device].memoryBytes = 0; // no limit
  }
  for (const LinkId link : machine.links.ids()) {
    machine.links[link].latencySeconds = seconds / 2;
    machine.links[link].bandwidth = seconds > 0 && bytes > 0 ? bytes / (seconds / 2) : fastest;
  }
  return machine;
}

} // namespace

std::vector<Machine> machinesOfEvenLinks(const PlacementProblem& problem) {
  const AverageOp average = averageOp(problem);
  std::vector<Machine> machines;
  for (const double ratio : communication) {
    machines.push_back(withLinks(problem.machine, ratio * average.seconds, average.bytes));
  }
  return machines;
}

} // namespace dfc
