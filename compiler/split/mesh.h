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
  bool alike = true;          ///< whether the devices are of one class, and give the same bits
  DeviceId host;              ///< where inputs arrive and fetches end
  /// `devices[1]` and on all name one mirror, for which no ops of the graph are made: its values are copies
  /// of the first device's (compiler/quotient).
  bool mirrored = false;
  size_t size() const { return devices.size(); }
  size_t made() const { return mirrored ? 1 : devices.size(); } ///< devices whose ops are made
};

/// Bytes a second, 0 for no limit, and seconds before the first byte.
struct LinkRate {
  double bandwidth = 0, latencySeconds = 0;
};
/// The slowest from the first of the devices to the others.
LinkRate rateTo(llvm::ArrayRef<DeviceId> devices, const Machine& machine, const CostModel& cost);

/// The meshes worth a trial: the first 2, 4, 8, … and all devices of each class of alike devices, and all
/// devices that can do a part worth the name of the graph's work, with shares in proportion to their rates.
/// None for a machine with one device. Of devices that no route connects, those that the first one reaches.
std::vector<Mesh> candidateMeshes(const Graph& graph, const Machine& machine, const CostModel& cost);

/// The mesh of these devices, with shares in proportion to their rates.
Mesh meshOfAll(std::vector<DeviceId> devices, const Graph& graph, const Machine& machine,
               const CostModel& cost);

/// The devices of a class of alike ones that reach each other quicker than others: as many of each run of
/// them in order, from the first, as lie on one fast link (a host's GPUs). All, where links are alike.
size_t islandSize(llvm::ArrayRef<DeviceId> devices, const Machine& machine, const CostModel& cost);

/// The mesh of a device and, as often as there are devices beside it, its mirror, with equal shares.
Mesh mirroredMesh(std::vector<DeviceId> devices, const Machine& machine, const CostModel& cost);

/// "gpu0 to gpu7", "gpu0 (48 %), gpu1 (48 %), cpu0 (4 %)".
std::string toString(const Mesh& mesh, const Machine& machine);

} // namespace dfc
