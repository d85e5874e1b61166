// Policy `auto`: the best, by the makespan that the scheduler predicts, of one device alone, lists and cuts
// over the first devices of the machine, and what a local search makes of them. A plan over many devices has
// to fit into their memory, and to be faster than one device by more than predictions miss.
//
// The same problem gives the same placement. Devices are added one by one, in the order of the machine, and
// what is found with fewer is kept: one more at the end does not make a plan slower.
#include "compiler/place/automatic_candidates.h"
#include "compiler/place/even_links.h"
#include "compiler/place/improve_placement.h"
#include "compiler/place/offer_all.h"
#include "ir/plan/placed_graph.h"

#include <algorithm>
#include <cmath>
#include <memory>

namespace dfc {
namespace {

// Trial schedules for each device: about so many ops are scheduled.
uint64_t searchSteps(const Graph& graph) {
  constexpr size_t opsScheduled = 40'000;
  return std::clamp<uint64_t>(opsScheduled / std::max<size_t>(1, graph.opCount()), 8, 120);
}

// After these, of small graphs.
uint64_t furtherSteps(const Graph& graph, DeviceId newest) {
  constexpr uint64_t opsOnDevices = 6'000, most = 125;
  return std::min<uint64_t>(opsOnDevices / std::max<size_t>(1, graph.opCount() * (newest.index() + 1)), most);
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

/// Graphs of few ops are searched for longer, and from the placements found for even links, too.
bool isSmall(const Graph& graph, DeviceId newest) {
  constexpr size_t mostOpsOnDevices = 128;
  return graph.opCount() * (newest.index() + 1) <= mostOpsOnDevices;
}

class AutomaticPlacer {
 public:
  explicit AutomaticPlacer(const PlacementProblem& problem)
      : problem_(problem), rated_(problem), candidates_(problem, rated_), improver_(problem, rated_),
        enough_(chainBound(problem)) {}

  /// The next device in the order of the machine. `others`: placements for the devices so far.
  void add(DeviceId device, llvm::ArrayRef<Placement> others) {
    const double before = rated_.empty() ? 0 : rated_.best().value();
    offer(device);
    improve(device, others);
    rated_.planBest();
    const bool isIdle = rated_.fits() && rated_.best().value() >= before;
    idle_ = isIdle ? idle_ + 1 : 0;
  }

  /// The candidates of the next device, without a search.
  void offer(DeviceId device) {
    candidates_.offerSingle(device);
    rated_.planBest();
    candidates_.offerSpread(device);
  }

  /// Whether every placement on the devices up to `newest` is looked at.
  bool offersAll(DeviceId newest) const {
    return countPlacements(improver_.movable(), newest, rated_) <= mostEnumerated;
  }

  bool maySkip(DeviceId device) const { return idle_ >= mostIdle && isLikeEarlier(device); }

  /// Some of the best so far.
  void addBest(std::vector<Placement>& placements) const {
    constexpr size_t few = 3;
    for (const RatedPlacement& row : llvm::ArrayRef(rated_.fewBest()).take_front(few)) {
      placements.push_back(row.placement);
    }
  }

  Placement best() {
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
  static constexpr double mostEnumerated = 2'500;

  void improve(DeviceId newest, llvm::ArrayRef<Placement> others) {
    if (newest == DeviceId(0)) {
      return;
    }
    if (mayGain()) {
      improver_.run(newest, searchSteps(problem_.graph));
    }
    if (offersAll(newest)) {
      offerAll(improver_.movable(), newest, problem_, rated_);
      return;
    }
    for (const Placement& other : others) {
      rated_.offer(other);
    }
    if (isSmall(problem_.graph, newest) && mayGain()) {
      improver_.runLonger(newest, furtherSteps(problem_.graph, newest));
    }
  }

  bool mayGain() const {
    constexpr double nearEnough = 1.001;
    return !rated_.empty() && (rated_.best().shortage > 0 || rated_.best().seconds > nearEnough * enough_);
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

/// The same for links of other speeds, side by side.
class EvenLinks {
 public:
  explicit EvenLinks(const PlacementProblem& problem) : problem_(problem) {}

  std::vector<Placement> bestWith(DeviceId device) {
    std::vector<Placement> best;
    if (problem_.machine.devices.size() > 1) {
      make();
      for (auto& placer : placers_) {
        for (uint32_t earlier = next_; earlier < device.index(); ++earlier) {
          placer->offer(DeviceId(earlier)); // all placements on these were looked at
        }
        placer->add(device, {});
        placer->addBest(best);
      }
      next_ = device.index() + 1;
    }
    return best;
  }

 private:
  void make() {
    if (placers_.empty()) {
      machines_ = machinesOfEvenLinks(problem_);
      for (const Machine& machine : machines_) {
        problems_.push_back(std::make_unique<PlacementProblem>(
            PlacementProblem{problem_.graph, machine, problem_.cost, problem_.pins, problem_.lowering}));
        placers_.push_back(std::make_unique<AutomaticPlacer>(*problems_.back()));
      }
    }
  }

  const PlacementProblem& problem_;
  std::vector<Machine> machines_;
  std::vector<std::unique_ptr<PlacementProblem>> problems_;
  std::vector<std::unique_ptr<AutomaticPlacer>> placers_;
  uint32_t next_ = 0; // device
};

} // namespace

Placement placeAutomatically(const PlacementProblem& problem) {
  AutomaticPlacer placer(problem);
  EvenLinks even(problem);
  for (const DeviceId device : problem.machine.devices.ids()) {
    if (!placer.maySkip(device)) {
      placer.add(device, isSmall(problem.graph, device) && !placer.offersAll(device)
                             ? even.bestWith(device)
                             : std::vector<Placement>());
    }
  }
  return placer.best();
}

} // namespace dfc
