// SplitPlan: how each op of a graph runs on a mesh.
#pragma once

#include "compiler/split/mesh.h"
#include "compiler/split/op_options.h"

namespace dfc {

/// Where the ops of a split along several axes run: in row r, device d of the mesh is `devices[r][d]`. The
/// rows are the stages of a pipeline, or groups over which another split spread the ops. A row that is one
/// device throughout, the host or a mirror (`Mesh::mirrored`), has whole ops.
struct Rows {
  std::vector<std::vector<DeviceId>> devices; ///< empty: one row. The first is the mesh's devices
  SideTable<OpId, uint32_t> of = {};
  double bandwidth = 0;       ///< bytes a second that reach a device from the one at its place in another row
  double latencySeconds = 0;  ///< of such a transfer
  bool inputsInParts = false; ///< an input is cut where it can be
  bool isOneDevice(size_t row) const { return devices[row].size() > 1 && devices[row][0] == devices[row][1]; }
};

/// Devices by their use: the stages of a pipeline, the groups of each stage, over which the stage's ops are
/// split, and the devices of a group, over which the group's ops are split once more.
struct Grid {
  size_t stages = 1, groups = 1, width = 1;
  bool isPlain() const { return stages == 1 && width == 1; } ///< a split along one axis
};

struct SplitPlan {
  Mesh mesh; ///< of each row, if there are several
  SideTable<OpId, OpOption> option;
  double seconds = 0; ///< of the objective: computation of a device plus priced communication
  bool exact = true;  ///< no choice of the same options has a smaller objective
  double price = 1;   ///< of a second on a link, in seconds of computation
  SideTable<OpId, double> opSeconds = {}; ///< that a device computes each op, by the cost model
  Rows rows = {};
  bool gathers = false; ///< state in parts that an op reads whole is sent anew each step, and not kept whole
};

} // namespace dfc
