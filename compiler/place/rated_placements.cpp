#include "compiler/place/rated_placements.h"

#include "compiler/place/makespan_bound.h"
#include "compiler/place/memory_demand.h"
#include "ir/plan/placed_graph.h"

#include <llvm/ADT/Hashing.h>
#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

namespace dfc {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();
constexpr int impossible = 2; // a shortage
constexpr size_t mostKept = 12;
constexpr size_t mostOpsPlanned = 100; // of a graph all of whose placements are planned in full
constexpr double gainOfSeveral = 0.02; // of the makespan, below which one device alone is kept
/// Multiple of the limit of a search above which a makespan is hopeless: merged launches and feeds that the
/// step before hides, which a makespan does not count, seldom gain as much.
constexpr double hopeless = 1.4;

size_t devicesOf(const Placement& placement, const PlacementProblem& problem) {
  std::set<DeviceId> used;
  for (const OpId op : placement.graph.ops()) {
    const OpKind kind = placement.graph[op].kind();
    if (!isResident(kind) && kind != OpKind::Input && !problem.pins[op].valid()) {
      used.insert(placement.device[op]);
    }
  }
  return used.size();
}

uint64_t hashOf(const Placement& placement) {
  uint64_t hash = 0x9e3779b97f4a7c15U;
  for (const OpId op : placement.device.ids()) {
    hash = (hash ^ placement.device[op].index()) * 0x100000001b3U;
    hash ^= hash >> 29U;
  }
  return hash >> 2U; // the two largest are DenseSet's own
}

} // namespace

double RatedPlacement::value() const { return devices > 1 ? seconds / (1 - gainOfSeveral) : seconds; }

bool isBetter(const RatedPlacement& a, const RatedPlacement& b) {
  return std::tuple(a.shortage, a.value(), a.devices) < std::tuple(b.shortage, b.value(), b.devices);
}

RatedPlacements::RatedPlacements(const PlacementProblem& problem)
    : problem_(problem), cheap_(problem), plansAll_(problem.graph.opCount() <= mostOpsPlanned) {}

double RatedPlacements::offer(Placement candidate, double limit) {
  cheap_.settle(candidate);
  if (!seen_.insert(hashOf(candidate)).second || !runs(candidate)) {
    return never;
  }
  const double most = mostMakespan(limit), bound = makespanBound(candidate, problem_);
  if (plansAll_ && bound > most) {
    return bound;
  }
  RatedPlacement row = rowOf(std::move(candidate), bound);
  if (plansAll_ && row.shortage < impossible) {
    const auto planned = plan(row, most);
    row.shortage = !planned ? impossible : planned->givenUp ? row.shortage : 0;
    row.seconds = planned ? planned->seconds : row.seconds;
  } else if (best_.empty() || isBetter(row, best_.front()) || row.value() <= limit) {
    row.seconds = predictedMakespan(row.placement, problem_, row.seconds);
  }
  const double value = !best_.empty() && row.shortage > best_.front().shortage ? never : row.value();
  best_.insert(std::upper_bound(best_.begin(), best_.end(), row, isBetter), std::move(row));
  if (best_.size() > mostKept) {
    best_.pop_back();
  }
  return value;
}

double RatedPlacements::mostMakespan(double limit) const {
  return best_.empty() || best().shortage > 0 ? never : hopeless * std::max(limit, best().value());
}

bool RatedPlacements::wasOffered(Placement candidate) const {
  cheap_.settle(candidate);
  return seen_.contains(hashOf(candidate));
}

std::optional<RatedPlacement> RatedPlacements::bestOfSeveral() const {
  if (best().devices > 1) {
    return std::nullopt;
  }
  const auto found = llvm::find_if(
      best_, [&](const RatedPlacement& row) { return row.devices > 1 && row.shortage == best().shortage; });
  return found != best_.end() ? std::optional(*found) : std::nullopt;
}

RatedPlacement RatedPlacements::rowOf(Placement placement) const {
  const double bound = makespanBound(placement, problem_);
  return rowOf(std::move(placement), bound);
}

RatedPlacement RatedPlacements::rowOf(Placement placement, double bound) const {
  RatedPlacement row{std::move(placement), 0, 0, 1, 0};
  row.hash = hashOf(row.placement);
  row.devices = devicesOf(row.placement, problem_);
  const MemoryDemand demand = memoryDemand(row.placement, problem_.machine);
  row.shortage = fitsInto(problem_.machine, demand.likely)  ? 0
                 : fitsInto(problem_.machine, demand.least) ? 1
                                                            : impossible;
  row.seconds = bound;
  return row;
}

bool RatedPlacements::runs(const Placement& placement) const {
  return llvm::all_of(placement.graph.ops(), [&](OpId op) {
    return isResident(placement.graph[op].kind()) ||
           std::isfinite(
               problem_.cost.opSeconds(placement.graph, op, problem_.machine, placement.device[op]));
  });
}

void RatedPlacements::offerAndPlan(Placement candidate) {
  cheap_.settle(candidate);
  offer(candidate);
  planNear(std::move(candidate));
}

void RatedPlacements::planNear(Placement placement) {
  if (!best_.empty() && runs(placement)) {
    if (const RatedPlacement row = rowOf(std::move(placement)); row.shortage < impossible && !isFar(row)) {
      plan(row);
    }
  }
}

void RatedPlacements::planPolicy(Placement placement) {
  if (runs(placement)) {
    plan(rowOf(std::move(placement)));
  }
}

bool RatedPlacements::isFar(const RatedPlacement& row) const {
  constexpr double near = 1.05;
  return row.shortage != best().shortage || row.value() > near * best().value();
}

// Placements near the best are planned as well: memory and launches, which `predictedMakespan` leaves out,
// may reverse their order.
void RatedPlacements::planBest() {
  constexpr size_t mostPlanned = 3; // at a time
  size_t planned = 0;
  bool fits = false;
  for (const RatedPlacement& row : best_) {
    if (fits && (planned == mostPlanned || isFar(row))) {
      return;
    }
    planned += planOf_.count(row.hash) != 0 ? 0 : 1;
    const auto made = plan(row);
    fits |= made && !made->waits;
  }
}

void RatedPlacements::planSingle(Placement single) {
  cheap_.settle(single);
  if (!runs(single)) {
    return;
  }
  RatedPlacement row = rowOf(std::move(single));
  if (single_ && !isBetter(row, *single_)) {
    return;
  }
  row.seconds = predictedMakespan(row.placement, problem_, row.seconds);
  if (!single_ || isBetter(row, *single_)) {
    plan(row);
    single_ = std::move(row);
  }
}

std::optional<PlannedSeconds> RatedPlacements::plan(const RatedPlacement& row, double most) {
  const auto [entry, isNew] = planOf_.try_emplace(row.hash);
  if (!isNew && !(entry->second && entry->second->givenUp && entry->second->seconds <= most)) {
    return entry->second;
  }
  entry->second = plannedSeconds(row.placement, problem_, most);
  if (entry->second && !entry->second->givenUp) {
    RatedPlacement full = row;
    full.shortage = 0;
    full.seconds = entry->second->seconds;
    if (planned_.empty() || isBetter(full, planned_.front())) {
      planned_ = {std::move(full)};
    }
  }
  return entry->second;
}

} // namespace dfc
