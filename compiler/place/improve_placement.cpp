#include "compiler/place/improve_placement.h"

#include "compiler/place/task_graph_of.h"
#include "ir/plan/placed_graph.h"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <cmath>

namespace dfc {

PlacementImprover::PlacementImprover(const PlacementProblem& problem, RatedPlacements& rated)
    : problem_(problem), graph_(problem.graph), rated_(rated), neighbours_(graph_.opCount()) {
  for (const OpId op : graph_.ops()) {
    if (!isMovable(op)) {
      continue;
    }
    movable_.push_back(op);
    for (const ValueId operand : graph_[op].operands) {
      const OpId producer = graph_[operand].producer;
      if (isMovable(producer)) {
        neighbours_[op].push_back(producer);
        neighbours_[producer].push_back(op);
      }
    }
  }
}

void PlacementImprover::run(DeviceId newest, uint64_t steps) {
  random_.seed(newest.index() + 1); // what a smaller machine tries does not depend on the larger one
  if (movable_.empty()) {
    return;
  }
  for (uint64_t step = 0; step < steps; ++step) {
    rated_.offer(proposal(newest));
  }
}

bool PlacementImprover::isMovable(OpId op) const {
  const OpKind kind = graph_[op].kind();
  return !isResident(kind) && kind != OpKind::Input && !problem_.pins[op].valid();
}

Placement PlacementImprover::proposal(DeviceId newest) {
  Placement placement = rated_.best().placement;
  if (!llvm::StringRef(placement.policy).endswith("local search")) {
    placement.policy += ", local search";
  }
  const OpId seed = movable_[draw(movable_.size())];
  const DeviceId from = placement.device[seed];
  const OpId other = neighbourElsewhere(seed, placement);
  const DeviceId to = other.valid() && draw(2) == 0 ? placement.device[other] : drawDevice(newest);
  constexpr size_t mostMoved = 64;
  switch (draw(4)) {
  case 0: move({seed}, to, placement); break;
  case 1: move(scopeGroup(seed, placement), to, placement); break;
  case 2: {
    const size_t most = 1 + draw(std::min(mostMoved, movable_.size()));
    if (other.valid()) { // swap
      const auto there = connectedGroup(other, placement, most), here = connectedGroup(seed, placement, most);
      move(there, from, placement);
      move(here, placement.device[other] == from ? to : placement.device[other], placement);
      break;
    }
    [[fallthrough]];
  }
  default:
    move(connectedGroup(seed, placement, 1 + draw(std::min(mostMoved, movable_.size()))), to, placement);
  }
  settleResidents(placement, problem_);
  return placement;
}

DeviceId PlacementImprover::drawDevice(DeviceId newest) {
  return draw(2) == 0 ? newest : DeviceId(draw(newest.index() + 1));
}

// Breadth first along edges, on the device of the seed.
std::vector<OpId> PlacementImprover::connectedGroup(OpId seed, const Placement& placement,
                                                    size_t most) const {
  std::vector<OpId> group = {seed};
  for (size_t i = 0; i < group.size() && group.size() < most; ++i) {
    for (const OpId next : neighbours_[group[i]]) {
      if (placement.device[next] == placement.device[seed] && group.size() < most &&
          !llvm::is_contained(group, next)) {
        group.push_back(next);
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
