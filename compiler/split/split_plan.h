// SplitPlan: how each op of a graph runs on a mesh.
#pragma once

#include "compiler/split/mesh.h"
#include "compiler/split/op_options.h"

namespace dfc {

/// The rows of a device mesh with two axes: device d of row r is `devices[r][d]`. The ops of a row are split
/// over its devices. Rows are pipeline stages, or the groups of an outer split. A row that repeats one
/// device, the host or a mirror (`Mesh::mirrored`), holds unsplit ops.
struct Rows {
  std::vector<std::vector<DeviceId>>
      devices; ///< the first row is the devices of the mesh; empty: the mesh has one axis
  SideTable<OpId, uint32_t> of = {}; ///< the row of each op
  double bandwidth = 0;              ///< bytes a second between devices of two rows at the same position
  double latencySeconds = 0;         ///< of such a transfer
  bool inputsInParts = false;        ///< inputs are cut if the split rules allow it
  bool isOneDevice(size_t row) const { return devices[row].size() > 1 && devices[row][0] == devices[row][1]; }
};

/// A device grid: pipeline stages, groups per stage, devices per group (`width`). The ops of a stage are
/// split over its groups, and the ops of a group over its devices.
struct Grid {
  size_t stages = 1, groups = 1, width = 1;
  bool isPlain() const { return stages == 1 && width == 1; } ///< a split along one axis
  friend bool operator==(const Grid&, const Grid&) = default;
};

struct SplitPlan {
  Mesh mesh; ///< the first row, if there are several
  SideTable<OpId, OpOption> option;
  double seconds = 0; ///< of the objective: computation of a device plus priced communication
  bool exact = true;  ///< no choice of the same options has a smaller objective
  double price = 1;   ///< of a second on a link, in seconds of computation
  SideTable<OpId, double> opSeconds = {}; ///< that a device computes each op, by the cost model
  Rows rows = {};
  bool gathers = false;    ///< cut parameters are gathered in each step; no device keeps a replica
  bool splitAgain = false; ///< each device stands for a group, over which its ops are split afterwards
};

} // namespace dfc
