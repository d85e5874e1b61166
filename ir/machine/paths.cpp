#include "ir/machine/paths.h"

#include <llvm/ADT/ArrayRef.h>

#include <algorithm>
#include <limits>
#include <queue>
#include <tuple>

namespace dfc {
namespace {

/// How far a device is: seconds, then hops, then the route that reaches it, so that ties have one answer.
struct Reach {
  double seconds = std::numeric_limits<double>::infinity();
  uint32_t hops = 0;
  uint32_t route = 0;
  auto key() const { return std::tuple(seconds, hops, route); }
};

/// Dijkstra 1959 over the routes, with the cost of `bytes` on each.
class PathSearch {
 public:
  PathSearch(const Machine& machine, const SideTable<DeviceId, std::vector<uint32_t>>& leaving, DeviceId from,
             int64_t bytes)
      : machine_(machine), leaving_(leaving), bytes_(bytes), reach_(machine.devices.size()) {
    reach_[from].seconds = 0;
    open_.push({0, 0, from.index()});
    while (!open_.empty()) {
      settleNext();
    }
  }

  std::optional<std::vector<Route>> chainTo(DeviceId from, DeviceId to) const {
    if (reach_[to].seconds == std::numeric_limits<double>::infinity()) {
      return std::nullopt;
    }
    std::vector<Route> chain;
    for (DeviceId at = to; at != from; at = chain.back().from) {
      chain.push_back(machine_.routes[reach_[at].route]);
    }
    std::reverse(chain.begin(), chain.end());
    return chain;
  }

 private:
  void settleNext() {
    const auto [seconds, hops, index] = open_.top();
    open_.pop();
    const DeviceId device(index);
    if (seconds != reach_[device].seconds || hops != reach_[device].hops) {
      return; // an entry that a shorter one has replaced
    }
    for (const uint32_t route : leaving_[device]) {
      relax(route, seconds, hops);
    }
  }

  void relax(uint32_t route, double seconds, uint32_t hops) {
    const Route& row = machine_.routes[route];
    const Reach found{seconds + machine_.seconds(row, bytes_), hops + 1, route};
    Reach& best = reach_[row.to];
    if (found.key() < best.key()) {
      best = found;
      open_.push({found.seconds, found.hops, row.to.index()});
    }
  }

  using Entry = std::tuple<double, uint32_t, uint32_t>; // seconds, hops, device
  const Machine& machine_;
  const SideTable<DeviceId, std::vector<uint32_t>>& leaving_;
  int64_t bytes_;
  SideTable<DeviceId, Reach> reach_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open_;
};

/// A direct route that no route out of its first device beats: every other chain begins with one of these.
/// Null when there is none. Saves the search on machines where all devices are linked.
const Route* cheapestWithoutStop(const Machine& machine, llvm::ArrayRef<uint32_t> leaving, DeviceId to,
                                 int64_t bytes) {
  const Route* best = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (const uint32_t index : leaving) {
    const Route& route = machine.routes[index];
    const double seconds = machine.seconds(route, bytes);
    if (seconds < least || (seconds == least && best == nullptr)) {
      best = route.to == to ? &route : nullptr;
      least = seconds;
    }
  }
  return best;
}

} // namespace

Paths::Paths(const Machine& machine) : machine_(machine), leaving_(machine.devices.size()) {
  for (uint32_t i = 0; i < machine.routes.size(); ++i) {
    leaving_[machine.routes[i].from].push_back(i);
  }
}

std::optional<std::vector<Route>> Paths::path(DeviceId from, DeviceId to, int64_t bytes) const {
  if (const Route* direct = from == to ? nullptr : cheapestWithoutStop(machine_, leaving_[from], to, bytes)) {
    return std::vector<Route>{*direct};
  }
  return PathSearch(machine_, leaving_, from, bytes).chainTo(from, to);
}

} // namespace dfc
