// Meshes: classes of alike devices, sizes by powers of two, shares by rates.
#include "compiler/split/mesh.h"

#include "compiler/split/shares/shares.h"
#include "ir/plan/peer_reads.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace dfc {
namespace {

// A device that would do less of the work is left out: its part would be dearer to send than to compute.
constexpr double leastShare = 0.02;

// What splitting looks at when it asks for a link's rate.
constexpr int64_t typicalBytes = 1 << 20;

// Rates of one model that `dfc machine` measured differ a little.
bool near(double a, double b) { return std::abs(a - b) <= 0.1 * std::max(a, b); }

bool oneClass(const DeviceRow& a, const DeviceRow& b) {
  return alike(a, b) || (a.kind == b.kind && !a.model.empty() && a.model == b.model &&
                         near(a.memoryBandwidth, b.memoryBandwidth) && near(a.tf32Flops, b.tf32Flops) &&
                         std::equal(a.peakFlops.begin(), a.peakFlops.end(), b.peakFlops.begin(), near));
}

void addLinks(Mesh& mesh, llvm::ArrayRef<DeviceId> devices, const Machine& machine, const CostModel& cost) {
  const LinkRate rate = rateTo(devices, machine, cost);
  mesh.bandwidth = rate.bandwidth;
  mesh.latencySeconds = rate.latencySeconds;
}

/// Whether kernels of any two devices, both GPUs, read one another's memory (`PeerAccess`).
bool allReadPeers(llvm::ArrayRef<DeviceId> devices, const Machine& machine) {
  const PeerAccess peers(machine);
  return llvm::all_of(devices, [&](DeviceId reader) {
    return llvm::all_of(devices,
                        [&](DeviceId owner) { return owner == reader || peers.reaches(reader, owner); });
  });
}

Mesh meshOf(std::vector<DeviceId> devices, std::vector<double> shares, const Machine& machine,
            const CostModel& cost) {
  Mesh mesh{.devices = std::move(devices), .shares = std::move(shares), .host = machine.host()};
  mesh.alike = llvm::all_of(mesh.devices, [&](DeviceId device) {
    return oneClass(machine.devices[device], machine.devices[mesh.devices.front()]);
  });
  addLinks(mesh, mesh.devices, machine, cost);
  for (const DeviceId device : mesh.devices) {
    mesh.launchSeconds = std::max(mesh.launchSeconds, machine.devices[device].launchSeconds);
  }
  mesh.readsPeers = allReadPeers(mesh.devices, machine);
  return mesh;
}

/// 2, 4, 8, … below `count`, and `count`.
std::vector<size_t> sizesUpTo(size_t count) {
  std::vector<size_t> sizes;
  for (size_t size = 2; size < count; size *= 2) {
    sizes.push_back(size);
  }
  if (count >= 2) {
    sizes.push_back(count);
  }
  return sizes;
}

bool reaches(const Machine& machine, DeviceId from, DeviceId to) {
  return from == to || (machine.path(from, to, typicalBytes) && machine.path(to, from, typicalBytes));
}

struct Planned {
  const Graph& graph;
  const Machine& machine;
  const CostModel& cost;
};

/// Devices of one class, and the work of each.
struct RatedClass {
  std::vector<DeviceId> devices;
  DeviceWork work;
};

/// The mesh of all devices of these classes, in the classes' order; devices with too small a share are left
/// out. None if fewer than two devices remain, or if those are alike.
std::optional<Mesh> mixedMesh(llvm::ArrayRef<RatedClass> classes, const Planned& planned) {
  std::vector<DeviceId> devices;
  std::vector<DeviceWork> works;
  for (const RatedClass& one : classes) {
    devices.insert(devices.end(), one.devices.begin(), one.devices.end());
    works.insert(works.end(), one.devices.size(), one.work);
  }
  std::vector<double> shares = balancedShares(works);
  while (shares.size() > 1 && shares.back() < leastShare) { // the slowest
    devices.pop_back();
    works.pop_back();
    shares = balancedShares(works);
  }
  if (devices.size() < 2) {
    return std::nullopt;
  }
  Mesh mesh = meshOf(std::move(devices), std::move(shares), planned.machine, planned.cost);
  return mesh.alike ? std::nullopt : std::optional(std::move(mesh));
}

/// Meshes of the two fastest classes, of the three fastest, …, of all. The fastest devices come first, as
/// the first one does what one device alone must.
void addMixed(std::vector<std::vector<DeviceId>> classes, const Planned& planned, std::vector<Mesh>& meshes) {
  std::vector<RatedClass> rated;
  const DeviceId from = classes.front().front();
  for (std::vector<DeviceId>& one : classes) {
    const DeviceWork work = workOn(planned.graph, planned.machine, planned.cost, one.front());
    llvm::erase_if(one, [&](DeviceId device) { return !reaches(planned.machine, from, device); });
    if (work.whole() > 0 && std::isfinite(work.whole()) && !one.empty()) {
      rated.push_back({std::move(one), work});
    }
  }
  llvm::stable_sort(rated,
                    [](const RatedClass& a, const RatedClass& b) { return a.work.whole() < b.work.whole(); });
  for (size_t count = 2; count <= rated.size(); ++count) {
    auto mesh = mixedMesh(llvm::ArrayRef(rated).take_front(count), planned);
    if (mesh && llvm::none_of(meshes, [&](const Mesh& other) { return other.devices == mesh->devices; })) {
      meshes.push_back(*std::move(mesh));
    }
  }
}

} // namespace

std::vector<std::vector<DeviceId>> deviceClasses(const Machine& machine) {
  std::vector<std::vector<DeviceId>> classes;
  for (const DeviceId device : machine.devices.ids()) {
    const auto same = llvm::find_if(classes, [&](const std::vector<DeviceId>& one) {
      return oneClass(machine.devices[one.front()], machine.devices[device]);
    });
    if (same == classes.end()) {
      classes.push_back({device});
    } else {
      same->push_back(device);
    }
  }
  return classes;
}

LinkRate rateTo(llvm::ArrayRef<DeviceId> devices, const Machine& machine, const CostModel& cost) {
  LinkRate slowest;
  for (const DeviceId to : devices.drop_front()) {
    const auto path = machine.path(devices.front(), to, typicalBytes);
    const double seconds = cost.pathSeconds(machine, *path, typicalBytes);
    const double latency = cost.pathSeconds(machine, *path, 0);
    const double rate = seconds > latency ? static_cast<double>(typicalBytes) / (seconds - latency) : 0;
    if (rate > 0) {
      slowest.bandwidth = slowest.bandwidth > 0 ? std::min(slowest.bandwidth, rate) : rate;
    }
    slowest.latencySeconds = std::max(slowest.latencySeconds, latency);
  }
  return slowest;
}

Mesh mirroredMesh(std::vector<DeviceId> devices, const Machine& machine, const CostModel& cost) {
  const double share = 1.0 / static_cast<double>(devices.size());
  Mesh mesh;
  mesh.devices = std::move(devices);
  mesh.shares.assign(mesh.size(), share);
  mesh.host = machine.host();
  mesh.mirrored = true;
  if (mesh.size() > 1) {
    addLinks(mesh, {mesh.devices[1], mesh.devices[0]}, machine, cost);
  }
  return mesh;
}

std::vector<Mesh> candidateMeshes(const Graph& graph, const Machine& machine, const CostModel& cost) {
  std::vector<std::vector<DeviceId>> classes = deviceClasses(machine);
  for (auto& one : classes) {
    const DeviceId first = one.front();
    llvm::erase_if(one, [&](DeviceId device) { return !reaches(machine, first, device); });
  }
  std::vector<Mesh> meshes;
  for (const auto& one : classes) {
    for (const size_t size : sizesUpTo(one.size())) {
      meshes.push_back(meshOf({one.begin(), one.begin() + static_cast<ptrdiff_t>(size)},
                              std::vector<double>(size, 1.0 / static_cast<double>(size)), machine, cost));
    }
  }
  if (classes.size() > 1) {
    addMixed(std::move(classes), {graph, machine, cost}, meshes);
  }
  return meshes;
}

Mesh meshOfAll(std::vector<DeviceId> devices, const Graph& graph, const Machine& machine,
               const CostModel& cost) {
  std::vector<DeviceWork> works;
  for (const DeviceId device : devices) {
    works.push_back(workOn(graph, machine, cost, device));
  }
  return meshOf(std::move(devices), balancedShares(works), machine, cost);
}

size_t domainSize(size_t devices, llvm::function_ref<double(size_t)> secondsTo) {
  constexpr double muchSlower = 1.5;
  const double nearest = devices > 1 ? secondsTo(1) : 0;
  size_t size = 1;
  while (size < devices && secondsTo(size) <= muchSlower * nearest) {
    ++size;
  }
  return size;
}

size_t domainSize(llvm::ArrayRef<DeviceId> devices, const Machine& machine, const CostModel& cost) {
  return domainSize(devices.size(), [&](size_t to) {
    return cost.pathSeconds(machine, *machine.path(devices[0], devices[to], typicalBytes), typicalBytes);
  });
}

std::string toString(const Mesh& mesh, const Machine& machine) {
  std::vector<std::string> names;
  bool even = true;
  for (size_t i = 0; i < mesh.size(); ++i) {
    even = even && std::abs(mesh.shares[i] - mesh.shares[0]) < 1e-9;
    names.push_back(machine.devices[mesh.devices[i]].name);
  }
  if (even) {
    return fmt::format("{} to {}", names.front(), names.back());
  }
  for (size_t i = 0; i < mesh.size(); ++i) {
    names[i] += fmt::format(" ({:.0f} %)", 100 * mesh.shares[i]);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

} // namespace dfc
