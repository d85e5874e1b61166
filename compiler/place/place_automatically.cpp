// Policy `auto`: the best, by the makespan that the scheduler predicts, of one device alone, lists and cuts
// over the first devices of the machine, and what a local search makes of them. A plan over many devices has
// to fit into their memory, and to be faster than one device by more than predictions miss.
//
// The same problem gives the same placement. Devices are added one by one, in the order of the machine, and
// what is found with fewer is kept: one more at the end does not make a plan slower.
#include "compiler/place/automatic_candidates.h"
#include "compiler/place/improve_placement.h"
#include "ir/plan/placed_graph.h"

#include <algorithm>
#include <cmath>

namespace dfc {
namespace {

// Trial schedules for each device: about so many ops are scheduled.
uint64_t searchSteps(const Graph& graph) {
  constexpr size_t opsScheduled = 40'000;
  return std::clamp<uint64_t>(opsScheduled / std::max<size_t>(1, graph.opCount()), 8, 120);
}

// The longest chain of ops, each on the device that is fastest for it: a bound for every placement.
double chainBound(const PlacementProblem& problem) {
  const Graph& graph = problem.graph;
  SideTable<OpId, double> end(graph.opCount(), 0);
  double longest = 0;
  for (const OpId op : graph.ops()) {
    for (const ValueId operand : graph[op].operands) {
      end[op] = std::max(end[op], end[graph[operand].producer]);
    }
    if (!isResident(graph[op].kind())) {
      double least = std::numeric_limits<double>::infinity();
      for (const DeviceId device : problem.machine.devices.ids()) {
        least = std::min(least, problem.cost.opSeconds(graph, op, problem.machine, device));
      }
      end[op] += least;
    }
    longest = std::max(longest, end[op]);
  }
  return longest;
}

} // namespace

Placement placeAutomatically(const PlacementProblem& problem) {
  constexpr double nearEnough = 1.001;
  constexpr size_t mostIdle = 8; // devices in a row that gain nothing
  RatedPlacements rated(problem);
  AutomaticCandidates candidates(problem, rated);
  PlacementImprover improver(problem, rated);
  const double enough = nearEnough * chainBound(problem);
  size_t idle = 0;
  for (const DeviceId device : problem.machine.devices.ids()) {
    const double before = rated.empty() ? 0 : rated.best().value();
    candidates.offerSingle(device);
    if (!rated.empty()) {
      rated.planBest();
    }
    if (idle >= mostIdle) {
      continue;
    }
    candidates.offerSpread(device);
    if (!rated.empty() && device != DeviceId(0)) {
      if (rated.best().isShort || rated.best().seconds > enough) {
        improver.run(device, searchSteps(problem.graph));
      }
      rated.planBest();
    }
    idle = !rated.empty() && rated.best().value() < before ? 0 : idle + 1;
  }
  if (rated.empty()) { // ops that run on different devices only, which no list could place: the checks say so
    return placeOnOne(problem);
  }
  Placement placement = rated.bestPlanned().placement;
  if (rated.bestPlanned().devices > 1 && !candidates.singleFits()) {
    placement.policy += "; no single device has the memory";
  }
  return placement;
}

} // namespace dfc
