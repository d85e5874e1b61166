// Mesh: the devices that a graph is split over, one beside the other, and the share of the work of each.
#pragma once

#include "compiler/cost/cost_model.h"
#include "ir/graph/graph.h"

#include <string>
#include <vector>

namespace dfc {

struct Mesh {
  std::vector<DeviceId> devices;
  std::vector<double> shares; ///< of the work, by device; they add up to 1
  double bandwidth = 0;       ///< bytes a second that reach one device from the others; 0: no limit
  double latencySeconds = 0;  ///< before the first byte
  bool readsPeers = false;    ///< whether kernels on each device read the memory of every other
  double launchSeconds = 0;   ///< of a kernel, on the slowest device
  bool alike = true;          ///< whether the devices are of one class, and give the same bits
  DeviceId host;              ///< where inputs arrive and fetches end
  /// Of a quotient (compiler/quotient): all devices but the first are one mirror device. Ops are made for the
  /// first device alone; the values of the others are copies of the first's, and parameters have parameters
  /// as copies.
  bool mirrored = false;
  size_t size() const { return devices.size(); }
  size_t made() const { return mirrored ? 1 : devices.size(); } ///< devices that ops are made for
};

struct LinkRate {
  double bandwidth = 0;      ///< bytes a second; 0: no limit
  double latencySeconds = 0; ///< before the first byte
};
/// The least bandwidth and the largest latency of the paths from the first device to the others.
LinkRate rateTo(llvm::ArrayRef<DeviceId> devices, const Machine& machine, const CostModel& cost);

/// The meshes worth a trial: the first 2, 4, 8, … and all devices of each class of alike devices, and all
/// devices of the two fastest classes, of the three fastest, …, that can do a part worth the name of the
/// graph's work.
/// None for a machine with one device. Of devices that no route connects, those that the first one reaches.
std::vector<Mesh> candidateMeshes(const Graph& graph, const Machine& machine, const CostModel& cost);

/// The mesh of these devices, with shares such that they end at the same time.
Mesh meshOfAll(std::vector<DeviceId> devices, const Graph& graph, const Machine& machine,
               const CostModel& cost);

/// The devices of the machine in classes of alike devices, each in the machine's order. Devices of one model
/// are alike if their measured rates differ by a tenth at most.
std::vector<std::vector<DeviceId>> deviceClasses(const Machine& machine);

/// Size of the interconnect domains of alike devices, such as the GPUs of one host: the number of devices,
/// counted from the first, that a copy from the first reaches about as fast as it reaches the second.
size_t domainSize(llvm::ArrayRef<DeviceId> devices, const Machine& machine, const CostModel& cost);
/// The same, by the seconds of a copy from the first device to the one at an index.
size_t domainSize(size_t devices, llvm::function_ref<double(size_t)> secondsTo);

/// A mirrored mesh with equal shares: `devices` is a device followed by its mirror, once for each peer.
Mesh mirroredMesh(std::vector<DeviceId> devices, const Machine& machine, const CostModel& cost);

/// "gpu0 to gpu7", "gpu0 (48 %), gpu1 (48 %), cpu0 (4 %)".
std::string toString(const Mesh& mesh, const Machine& machine);

} // namespace dfc
