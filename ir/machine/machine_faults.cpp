#include "ir/machine/machine_faults.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace dfc {
namespace {

// "" or "sm_" and the digits of a compute capability.
bool isArchitecture(std::string_view text) {
  constexpr std::string_view prefix = "sm_";
  if (text.empty()) {
    return true;
  }
  const std::string_view digits = text.substr(std::min(prefix.size(), text.size()));
  return text.starts_with(prefix) && digits.size() >= 2 && digits.size() <= 3 &&
         std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
}

class MachineCheck {
 public:
  explicit MachineCheck(const Machine& machine) : machine_(machine) {}

  std::vector<MachineFault> run() {
    checkDevices();
    checkLinks();
    checkRoutes();
    if (faults_.empty()) {
      checkReach();
    }
    return std::move(faults_);
  }

 private:
  void fault(std::string path, std::string message, std::string hint) {
    faults_.push_back({std::move(path), std::move(message), std::move(hint)});
  }

  void checkRate(const std::string& path, double rate, const char* unit) {
    if (!std::isfinite(rate) || rate < 0) {
      fault(path, fmt::format("{} is no rate", rate),
            fmt::format("give {}, or leave it out for no limit", unit));
    } else if (rate > 0 && rate < leastRate) {
      fault(path, fmt::format("{} is too slow to plan with", rate),
            fmt::format("give at least {} {}", leastRate, unit));
    }
  }

  void checkHalfInner(const std::string& path, double bytes) {
    if (!std::isfinite(bytes) || bytes < 0 || bytes > mostHalfInner) {
      fault(
          path, fmt::format("{} is no length of an inner dimension", bytes),
          fmt::format("give bytes, 0 to {}, or leave it out for the peak rate at any length", mostHalfInner));
    }
  }

  void checkSeconds(const std::string& path, double seconds) {
    if (!std::isfinite(seconds) || seconds < 0) {
      fault(path, fmt::format("{} is no duration", seconds), "give seconds, 0 or more");
    } else if (seconds > mostSeconds) {
      fault(path, fmt::format("{} is too long to plan with", seconds),
            fmt::format("give {} seconds at most", mostSeconds));
    }
  }

  using Names = std::unordered_map<std::string_view, std::string>;
  void checkName(Names& seen, const std::string& row, std::string_view name) {
    if (name.empty()) {
      fault(row + ".id", "the name is empty", "name it, as in \"cpu0\" or \"gpu0\"");
      return;
    }
    const auto [first, isNew] = seen.try_emplace(name, row);
    if (!isNew) {
      fault(row + ".id", fmt::format("'{}' is the name of {} already", name, first->second),
            "give each its own name");
    }
  }

  void checkDevices() {
    if (machine_.devices.empty()) {
      fault("devices", "there is no device", "a machine has at least one cpu, the host");
    } else if (std::none_of(machine_.devices.begin(), machine_.devices.end(),
                            [](const DeviceRow& row) { return row.kind == DeviceKind::Cpu; })) {
      fault("devices", "no device is a cpu", "feeds and results live on a host: add one of class \"cpu\"");
    }
    if (machine_.devices.size() > mostDevices) {
      fault("devices", fmt::format("there are {} devices", machine_.devices.size()),
            fmt::format("a machine file has at most {}", mostDevices));
      return;
    }
    Names seen;
    for (const DeviceId device : machine_.devices.ids()) {
      const std::string row = fmt::format("devices[{}]", device.index());
      checkName(seen, row, machine_.devices[device].name);
      checkDevice(row, machine_.devices[device]);
    }
  }

  void checkDevice(const std::string& row, const DeviceRow& device) {
    if (device.memoryBytes < 0) {
      fault(row + ".mem", fmt::format("{} is no capacity", device.memoryBytes),
            "give bytes, or leave it out for no limit");
    }
    if (device.computeQueues < 1 || device.computeQueues > mostComputeQueues) {
      fault(row + ".slots", fmt::format("a device with {} compute queues", device.computeQueues),
            fmt::format("give 1 to {}", mostComputeQueues));
    }
    if (device.threads < 1 || device.threads > mostThreads) {
      fault(row + ".threads", fmt::format("a device with {} threads", device.threads),
            fmt::format("give 1 to {}", mostThreads));
    }
    if (!isArchitecture(device.architecture)) {
      fault(row + ".architecture", fmt::format("'{}' is no architecture of a GPU", device.architecture),
            "give sm_ and the compute capability, as in sm_90, or leave it out");
    }
    if (device.multiprocessors > mostMultiprocessors) {
      fault(row + ".multiprocessors", fmt::format("a GPU of {} multiprocessors", device.multiprocessors),
            fmt::format("give 1 to {}, or leave it out", mostMultiprocessors));
    }
    if (device.threadsPerMultiprocessor > mostThreadsPerMultiprocessor) {
      fault(row + ".threadsPerMultiprocessor",
            fmt::format("a multiprocessor of {} resident threads", device.threadsPerMultiprocessor),
            fmt::format("give 1 to {}, or leave it out", mostThreadsPerMultiprocessor));
    }
    checkFlops(row + ".flops", device.peakFlops, device.tf32Flops);
    checkHalfInners(row + ".matmulHalfInner", device);
    checkHalfTiles(row + ".matmulHalfTile", device);
    checkFlops(row + ".convolutionFlops", device.convolutionFlops, device.tf32ConvolutionFlops);
    checkFlops(row + ".stridedFlops", device.stridedFlops, device.tf32StridedFlops);
    checkRate(row + ".memoryBandwidth", device.memoryBandwidth, "bytes a second");
    if (device.cacheBytes < 0) {
      fault(row + ".cache", fmt::format("{} is no size of a cache", device.cacheBytes),
            "give bytes, or leave it out");
    }
    checkSeconds(row + ".launch", device.launchSeconds);
    checkMatmulLaunches(row + ".matmulLaunch", device);
    checkSeconds(row + ".stepOverhead", device.stepOverheadSeconds);
  }

  void checkFlops(const std::string& path, const ByElementType& rates, double tf32) {
    for (const ElementType type : allElementTypes) {
      checkRate(fmt::format("{}.{}", path, name(type)), rates[static_cast<size_t>(type)],
                "operations a second");
    }
    checkRate(path + ".tf32", tf32, "operations a second");
  }

  void checkMatmulLaunches(const std::string& path, const DeviceRow& device) {
    if (device.hasOneMatmulLaunch()) {
      return checkSeconds(path, device.tf32LaunchSeconds);
    }
    for (const ElementType type : allElementTypes) {
      checkSeconds(fmt::format("{}.{}", path, name(type)),
                   device.matmulLaunchSeconds[static_cast<size_t>(type)]);
    }
    checkSeconds(path + ".tf32", device.tf32LaunchSeconds);
  }

  void checkHalfInners(const std::string& path, const DeviceRow& device) {
    if (device.hasOneHalfInner()) {
      return checkHalfInner(path, device.tf32HalfInner);
    }
    for (const ElementType type : allElementTypes) {
      checkHalfInner(fmt::format("{}.{}", path, name(type)),
                     device.matmulHalfInner[static_cast<size_t>(type)]);
    }
    checkHalfInner(path + ".tf32", device.tf32HalfInner);
  }

  void checkHalfTile(const std::string& path, double side) {
    if (!std::isfinite(side) || side < 0 || side > mostHalfTile) {
      fault(path, fmt::format("{} is no side of a tile", side),
            fmt::format("give elements, 0 to {}, or leave it out for one rate of all tiles", mostHalfTile));
    }
  }

  void checkHalfTiles(const std::string& path, const DeviceRow& device) {
    if (device.hasOneHalfTile()) {
      return checkHalfTile(path, device.tf32HalfTile);
    }
    for (const ElementType type : allElementTypes) {
      checkHalfTile(fmt::format("{}.{}", path, name(type)), device.matmulHalfTile[static_cast<size_t>(type)]);
    }
    checkHalfTile(path + ".tf32", device.tf32HalfTile);
  }

  void checkLinks() {
    Names seen;
    for (const LinkId link : machine_.links.ids()) {
      const std::string row = fmt::format("links[{}]", link.index());
      checkName(seen, row, machine_.links[link].name);
      checkSeconds(row + ".latency", machine_.links[link].latencySeconds);
      checkRate(row + ".bandwidth", machine_.links[link].bandwidth, "bytes a second");
    }
  }

  void checkRoutes() {
    std::unordered_map<uint64_t, size_t> seen;
    for (size_t i = 0; i < machine_.routes.size(); ++i) {
      const std::string row = fmt::format("routes[{}]", i);
      const Route& route = machine_.routes[i];
      if (!checkEnds(row, route)) {
        continue;
      }
      const uint64_t pair = (uint64_t{route.from.index()} << 32) | route.to.index();
      const auto [first, isNew] = seen.try_emplace(pair, i);
      if (!isNew) {
        fault(row,
              fmt::format("a second route from {} to {}; routes[{}] is the first",
                          deviceText(machine_, route.from), deviceText(machine_, route.to), first->second),
              "keep one");
      }
      checkRouteLinks(row + ".links", route);
    }
  }

  bool checkEnds(const std::string& row, const Route& route) {
    const size_t before = faults_.size();
    for (const auto& [key, device] : {std::pair("from", route.from), std::pair("to", route.to)}) {
      if (!machine_.devices.contains(device)) {
        fault(fmt::format("{}.{}", row, key), "there is no such device", "devices: " + deviceList(machine_));
      }
    }
    if (faults_.size() == before && route.from == route.to) {
      fault(row, fmt::format("a route from {} to itself", deviceText(machine_, route.from)),
            "a device needs no route to its own memory");
    }
    return faults_.size() == before;
  }

  void checkRouteLinks(const std::string& path, const Route& route) {
    if (route.links.empty()) {
      fault(path, "a route over no link", "name the links that a copy occupies");
    }
    for (size_t i = 0; i < route.links.size(); ++i) {
      if (!machine_.links.contains(route.links[i])) {
        fault(fmt::format("{}[{}]", path, i), "there is no such link", "name a row of \"links\"");
      } else if (std::find(route.links.begin(), route.links.begin() + i, route.links[i]) !=
                 route.links.begin() + i) {
        fault(fmt::format("{}[{}]", path, i),
              fmt::format("'{}' is in the route twice", machine_.links[route.links[i]].name), "name it once");
      }
    }
  }

  /// Every device reaches every other exactly when the host reaches each and each reaches the host. One fault
  /// for all: a file has one place for its routes.
  void checkReach() {
    constexpr size_t mostNamed = 10;
    const DeviceId host = machine_.host();
    std::vector<std::string> pairs;
    for (const bool forwards : {true, false}) {
      const SideTable<DeviceId, char> reached = reachable(host, forwards);
      for (const DeviceId device : reached.ids()) {
        if (reached[device] == 0) {
          pairs.push_back(fmt::format("from {} to {}", deviceText(machine_, forwards ? host : device),
                                      deviceText(machine_, forwards ? device : host)));
        }
      }
    }
    if (!pairs.empty()) {
      const size_t named = std::min(pairs.size(), mostNamed);
      const std::string more = named < pairs.size() ? fmt::format(" and {} more", pairs.size() - named) : "";
      pairs.resize(named);
      fault("routes", fmt::format("no chain of routes leads {}{}", fmt::join(pairs, ", "), more),
            pairs.size() == 1 ? "add the missing route; a route holds one way only"
                              : "add the missing routes; a route holds one way only");
    }
  }

  SideTable<DeviceId, char> reachable(DeviceId from, bool forwards) const {
    SideTable<DeviceId, std::vector<DeviceId>> next(machine_.devices.size());
    for (const Route& route : machine_.routes) {
      forwards ? next[route.from].push_back(route.to) : next[route.to].push_back(route.from);
    }
    SideTable<DeviceId, char> reached(machine_.devices.size(), 0);
    std::vector<DeviceId> open = {from};
    reached[from] = 1;
    while (!open.empty()) {
      const DeviceId at = open.back();
      open.pop_back();
      for (const DeviceId to : next[at]) {
        if (reached[to] == 0) {
          reached[to] = 1;
          open.push_back(to);
        }
      }
    }
    return reached;
  }

  const Machine& machine_;
  std::vector<MachineFault> faults_;
};

} // namespace

std::string deviceText(const Machine& machine, DeviceId device) {
  if (!device.valid()) {
    return "no device";
  }
  return machine.devices.contains(device) ? machine.devices[device].name
                                          : fmt::format("device {}", device.index());
}

std::string deviceList(const Machine& machine) {
  std::string list;
  for (const DeviceRow& row : machine.devices) {
    list += (list.empty() ? "" : ", ") + row.name;
  }
  return list;
}

std::vector<MachineFault> machineFaults(const Machine& machine) { return MachineCheck(machine).run(); }

} // namespace dfc
