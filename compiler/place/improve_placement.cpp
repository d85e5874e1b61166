#include "compiler/place/improve_placement.h"

#include "compiler/place/task_graph_of.h"
#include "ir/base/id_map.h"
#include "ir/plan/placed_graph.h"

#include <fmt/format.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace dfc {
namespace {

/// In the first steps a search also accepts placements that are slower than its start by this part of it, as
/// in simulated annealing, and in each further step by this part of the allowance.
constexpr double initialAllowance = 0.05, allowanceLeft = 0.98;

bool isMovable(OpId op, const PlacementProblem& problem) {
  const OpKind kind = problem.graph[op].kind();
  return !isResident(kind) && kind != OpKind::Input && !problem.pins[op].valid();
}

} // namespace

PlacementImprover::PlacementImprover(const PlacementProblem& problem, RatedPlacements& rated)
    : problem_(problem), graph_(problem.graph), rated_(rated), neighbours_(graph_.opCount()) {
  for (const OpId op : graph_.ops()) {
    if (!isMovable(op, problem)) {
      continue;
    }
    movable_.push_back(op);
    for (const ValueId operand : graph_[op].operands) {
      const OpId producer = graph_[operand].producer;
      if (isMovable(producer, problem)) {
        neighbours_[op].push_back(producer);
        neighbours_[producer].push_back(op);
      }
    }
  }
}

void PlacementImprover::run(DeviceId newest, uint64_t steps) {
  if (movable_.empty()) {
    return;
  }
  const auto climbFrom = [&](const RatedPlacement& start) {
    random_.seed(newest.index() + 1); // what a smaller machine tries does not depend on the larger one
    uint64_t left = steps;
    climb(start, [&] { return left-- != 0 ? newProposal(newest) : std::nullopt; });
  };
  const std::optional<RatedPlacement> spread = rated_.bestOfSeveral();
  climbFrom(rated_.best());
  if (spread) {
    climbFrom(*spread);
  }
  if (2 * movable_.size() * newest.index() <= steps) {
    descend(newest, steps);
  }
}

void PlacementImprover::runLonger(DeviceId newest, uint64_t steps) {
  runWhile(newest, [&] { return steps-- != 0; });
}

void PlacementImprover::runWhile(llvm::function_ref<bool()> goesOn) {
  runWhile(DeviceId(static_cast<uint32_t>(problem_.machine.devices.size() - 1)), goesOn);
}

void PlacementImprover::runWhile(DeviceId newest, llvm::function_ref<bool()> goesOn) {
  constexpr uint64_t seed = 0x5eed;
  constexpr uint64_t roundLength = 400; // steps, after which the best is the start again
  random_.seed(seed);
  bool ended = movable_.empty();
  while (!ended) {
    uint64_t left = roundLength;
    climb(rated_.best(), [&]() -> std::optional<Placement> {
      if (left-- == 0) {
        return std::nullopt;
      }
      auto next = newProposal(newest);
      ended = !next || !goesOn();
      return ended ? std::nullopt : next;
    });
  }
}

// Single ops, to where they help, until none does.
void PlacementImprover::descend(DeviceId newest, uint64_t steps) {
  for (bool gained = true; gained;) {
    gained = false;
    for (const OpId op : movable_) {
      for (uint32_t device = 0; device <= newest.index(); ++device) {
        if (steps-- == 0) {
          return;
        }
        const double best = rated_.best().value();
        Placement next = rated_.best().placement;
        move({op}, DeviceId(device), next);
        settleResidents(next, problem_);
        gained |= rated_.offer(std::move(next)) < best;
      }
    }
  }
}

void PlacementImprover::climb(const RatedPlacement& start,
                              llvm::function_ref<std::optional<Placement>()> next) {
  current_ = start.placement;
  const double first = start.value(); // `start` may be one of those that offers move
  double value = first;
  constexpr size_t historyLength = 16;
  std::array<double, historyLength> history;
  history.fill(value);
  double allowance = initialAllowance * value;
  for (uint64_t step = 0; auto proposed = next(); ++step) {
    double& late = history[step % historyLength];
    const double limit = std::max({value, late, first + allowance});
    allowance *= allowanceLeft;
    if (const double found = rated_.offer(*proposed, limit); found <= limit) {
      current_ = *std::move(proposed);
      value = found;
    }
    late = std::min(late, value);
  }
}

// From a placement that was offered before a further step leads on, so that placements behind it are reached.
std::optional<Placement> PlacementImprover::newProposal(DeviceId newest) {
  constexpr int mostDraws = 100;
  Placement at = current_;
  for (int i = 0; i < mostDraws; ++i) {
    Placement found = proposal(at, newest);
    if (!rated_.wasOffered(found)) {
      return found;
    }
    at = draw(4) != 0 ? std::move(found) : current_;
  }
  return std::nullopt;
}

Placement PlacementImprover::proposal(const Placement& from, DeviceId newest) {
  Placement placement = from;
  constexpr std::string_view searched = "local search from ";
  if (!placement.policy.starts_with(searched)) {
    placement.policy = fmt::format("{}{}", searched, placement.policy);
  }
  const OpId seed = movable_[draw(movable_.size())];
  const DeviceId here = placement.device[seed];
  const OpId other = neighbourElsewhere(seed, placement);
  const DeviceId to = other.valid() && draw(2) == 0 ? placement.device[other] : drawDevice(newest);
  const size_t most = drawSize();
  switch (draw(4)) {
  case 0: move({seed}, to, placement); break;
  case 1: move(scopeGroup(seed, placement), to, placement); break;
  case 2: {
    if (other.valid()) { // swap
      const auto theirs = connectedGroup(other, placement, most), own = connectedGroup(seed, placement, most);
      move(theirs, here, placement);
      move(own, placement.device[other] == here ? to : placement.device[other], placement);
      break;
    }
    [[fallthrough]];
  }
  default: move(connectedGroup(seed, placement, most), to, placement);
  }
  settleResidents(placement, problem_);
  return placement;
}

DeviceId PlacementImprover::drawDevice(DeviceId newest) {
  return draw(2) == 0 ? newest : DeviceId(draw(newest.index() + 1));
}

// Few ops more often than many.
size_t PlacementImprover::drawSize() {
  constexpr uint32_t mostDoublings = 7;
  return std::min<size_t>(1 + draw(size_t{1} << draw(mostDoublings)), movable_.size());
}

// Along edges in random order, on the device of the seed.
std::vector<OpId> PlacementImprover::connectedGroup(OpId seed, const Placement& placement, size_t most) {
  std::vector<OpId> group, frontier = {seed};
  llvm::DenseSet<OpId> seen = {seed};
  while (!frontier.empty() && group.size() < most) {
    std::swap(frontier[draw(frontier.size())], frontier.back());
    group.push_back(frontier.back());
    frontier.pop_back();
    for (const OpId next : neighbours_[group.back()]) {
      if (placement.device[next] == placement.device[seed] && seen.insert(next).second) {
        frontier.push_back(next);
      }
    }
  }
  return group;
}

std::vector<OpId> PlacementImprover::scopeGroup(OpId seed, const Placement& placement) const {
  std::vector<OpId> group;
  for (const OpId op : movable_) {
    if (graph_[op].scope == graph_[seed].scope && placement.device[op] == placement.device[seed]) {
      group.push_back(op);
    }
  }
  return group;
}

void PlacementImprover::move(llvm::ArrayRef<OpId> ops, DeviceId to, Placement& placement) const {
  for (const OpId op : ops) {
    if (std::isfinite(problem_.cost.opSeconds(graph_, op, problem_.machine, to))) {
      placement.device[op] = to;
    }
  }
}

// One of its neighbours on another device; invalid if it has none.
OpId PlacementImprover::neighbourElsewhere(OpId op, const Placement& placement) {
  llvm::SmallVector<OpId, 8> elsewhere;
  for (const OpId other : neighbours_[op]) {
    if (placement.device[other] != placement.device[op]) {
      elsewhere.push_back(other);
    }
  }
  return elsewhere.empty() ? OpId() : elsewhere[draw(elsewhere.size())];
}

} // namespace dfc
