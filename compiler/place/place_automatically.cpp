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

class AutomaticPlacer {
 public:
  explicit AutomaticPlacer(const PlacementProblem& problem)
      : problem_(problem), rated_(problem), candidates_(problem, rated_), improver_(problem, rated_),
        enough_(chainBound(problem)) {}

  Placement run() {
    for (const DeviceId device : problem_.machine.devices.ids()) {
      if (idle_ < mostIdle || !isLikeEarlier(device)) {
        add(device);
      }
    }
    for (auto* policy : {&placeOnOne, &placeByHeft, &placeByPeft}) {
      rated_.planPolicy(policy(problem_));
    }
    if (rated_.empty()) { // ops that run on different devices only, which no list could place
      return placeOnOne(problem_);
    }
    const RatedPlacement& best = rated_.bestPlanned();
    Placement placement = best.placement;
    if (best.devices > 1 && !candidates_.singleFits()) {
      placement.policy += "; no single device has the memory";
    }
    return placement;
  }

 private:
  static constexpr size_t mostIdle = 8; // devices in a row that gain nothing

  void add(DeviceId device) {
    const double before = rated_.empty() ? 0 : rated_.best().value();
    candidates_.offerSingle(device);
    rated_.planBest();
    candidates_.offerSpread(device);
    improve(device);
    rated_.planBest();
    const bool isIdle = rated_.fits() && rated_.best().value() >= before;
    idle_ = isIdle ? idle_ + 1 : 0;
  }

  void improve(DeviceId newest) {
    constexpr double nearEnough = 1.001;
    const bool mayGain =
        !rated_.empty() && (rated_.best().shortage > 0 || rated_.best().seconds > nearEnough * enough_);
    if (mayGain && newest != DeviceId(0)) {
      improver_.run(newest, searchSteps(problem_.graph));
    }
  }

  bool isLikeEarlier(DeviceId device) const {
    const auto& devices = problem_.machine.devices;
    uint32_t earlier = 0;
    while (earlier < device.index() && !alike(devices[DeviceId(earlier)], devices[device])) {
      ++earlier;
    }
    return earlier < device.index();
  }

  const PlacementProblem& problem_;
  RatedPlacements rated_;
  AutomaticCandidates candidates_;
  PlacementImprover improver_;
  double enough_; // seconds
  size_t idle_ = 0;
};

} // namespace

Placement placeAutomatically(const PlacementProblem& problem) { return AutomaticPlacer(problem).run(); }

} // namespace dfc
