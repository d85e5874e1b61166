// Queries of a machine: the host, the route between two devices, the duration of a copy, the cheapest chain
// of routes is cheapest. Assumes a machine that verifyMachine accepts; promises the same answer every time.
#include "ir/machine/machine.h"

#include "ir/machine/hockney.h"
#include "ir/machine/waves.h"

#include <algorithm>
#include <limits>
#include <queue>
#include <tuple>

namespace dfc {
namespace {

bool allAre(const ByElementType& figures, double figure) {
  return std::all_of(figures.begin(), figures.end(), [&](double one) { return one == figure; });
}

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
  PathSearch(const Machine& machine, DeviceId from, int64_t bytes)
      : machine_(machine), bytes_(bytes), reach_(machine.devices.size()), leaving_(machine.devices.size()) {
    for (uint32_t i = 0; i < machine.routes.size(); ++i) {
      leaving_[machine.routes[i].from].push_back(i);
    }
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
  int64_t bytes_;
  SideTable<DeviceId, Reach> reach_;
  SideTable<DeviceId, std::vector<uint32_t>> leaving_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open_;
};

} // namespace

std::string_view name(DeviceKind kind) {
  switch (kind) {
  case DeviceKind::Cpu: return "cpu";
  case DeviceKind::Gpu: return "gpu";
  }
  DFC_UNREACHABLE("device kind");
}

double DeviceRow::matmulRate(ElementType element, bool tf32, const ProductShape& product) const {
  const auto type = static_cast<size_t>(element);
  const bool own = tf32 && element == ElementType::F32 && tf32Flops > 0;
  const double busy = busyPart(product, kind == DeviceKind::Gpu ? multiprocessors : 0);
  const double ofWindows =
      tf32 && element == ElementType::F32 ? tf32ConvolutionFlops : convolutionFlops[type];
  if (product.windows && ofWindows > 0) {
    return ofWindows * busy;
  }
  const double peak = own ? tf32Flops : peakFlops[type];
  const double half = own ? tf32HalfInner : matmulHalfInner[type];
  const double bytes = product.inner * static_cast<double>(byteWidth(element));
  const double rate = bytes > 0 ? Hockney{peak, half}.rate(bytes) : peak;
  return rate * busy;
}

double DeviceRow::launchOf(ElementType element, bool tf32, const ProductShape& product) const {
  const bool own = tf32 && element == ElementType::F32 && tf32LaunchSeconds > 0;
  const double library = own ? tf32LaunchSeconds : matmulLaunchSeconds[static_cast<size_t>(element)];
  return kind == DeviceKind::Gpu && library > 0 && product.hasResult() ? library : launchSeconds;
}

bool DeviceRow::hasOneHalfInner() const { return allAre(matmulHalfInner, tf32HalfInner); }
bool DeviceRow::hasOneMatmulLaunch() const { return allAre(matmulLaunchSeconds, tf32LaunchSeconds); }

bool alike(const DeviceRow& a, const DeviceRow& b) {
  return a.kind == b.kind && a.model == b.model && a.memoryBytes == b.memoryBytes &&
         a.computeQueues == b.computeQueues && a.peakFlops == b.peakFlops && a.tf32Flops == b.tf32Flops &&
         a.matmulHalfInner == b.matmulHalfInner && a.tf32HalfInner == b.tf32HalfInner &&
         a.convolutionFlops == b.convolutionFlops && a.tf32ConvolutionFlops == b.tf32ConvolutionFlops &&
         a.memoryBandwidth == b.memoryBandwidth && a.launchSeconds == b.launchSeconds &&
         a.matmulLaunchSeconds == b.matmulLaunchSeconds && a.tf32LaunchSeconds == b.tf32LaunchSeconds &&
         a.cacheBytes == b.cacheBytes && a.multiprocessors == b.multiprocessors &&
         a.stepOverheadSeconds == b.stepOverheadSeconds;
}

DeviceId Machine::host() const {
  for (const DeviceId device : devices.ids()) {
    if (devices[device].kind == DeviceKind::Cpu) {
      return device;
    }
  }
  DFC_UNREACHABLE("machine '" + name + "' has no cpu");
}

DeviceId Machine::findDevice(std::string_view wanted) const {
  for (const DeviceId device : devices.ids()) {
    if (devices[device].name == wanted) {
      return device;
    }
  }
  return {};
}

const Route* Machine::directRoute(DeviceId from, DeviceId to) const {
  const auto found = std::find_if(routes.begin(), routes.end(),
                                  [&](const Route& route) { return route.from == from && route.to == to; });
  return found == routes.end() ? nullptr : &*found;
}

double Machine::seconds(const Route& route, int64_t bytes) const {
  double latency = 0;
  double bandwidth = std::numeric_limits<double>::infinity();
  for (const LinkId link : route.links) {
    latency += links[link].latencySeconds;
    if (links[link].bandwidth > 0) {
      bandwidth = std::min(bandwidth, links[link].bandwidth);
    }
  }
  return latency + static_cast<double>(bytes) / bandwidth;
}

namespace {

/// A direct route that no route out of `from` beats: every other chain begins with one of these. Null when
/// there is none. Saves the search on machines where all devices are linked.
const Route* cheapestWithoutStop(const Machine& machine, DeviceId from, DeviceId to, int64_t bytes) {
  const Route* best = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (const Route& route : machine.routes) {
    if (route.from != from) {
      continue;
    }
    const double seconds = machine.seconds(route, bytes);
    if (seconds < least || (seconds == least && best == nullptr)) {
      best = route.to == to ? &route : nullptr;
      least = seconds;
    }
  }
  return best;
}

} // namespace

std::optional<std::vector<Route>> Machine::path(DeviceId from, DeviceId to, int64_t bytes) const {
  if (const Route* direct = from == to ? nullptr : cheapestWithoutStop(*this, from, to, bytes)) {
    return std::vector<Route>{*direct};
  }
  return PathSearch(*this, from, bytes).chainTo(from, to);
}

} // namespace dfc
