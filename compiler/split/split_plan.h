// SplitPlan: how each op of a graph runs on a mesh.
#pragma once

#include "compiler/split/mesh.h"
#include "compiler/split/op_options.h"

namespace dfc {

/// Where the ops of a pipeline run: at stage s, device d of the mesh is `rows[s][d]`.
struct Stages {
  std::vector<std::vector<DeviceId>> rows; ///< empty: no pipeline. The first is the mesh's devices
  SideTable<OpId, uint32_t> of = {};
};

struct SplitPlan {
  Mesh mesh; ///< of each stage, if it is a pipeline
  SideTable<OpId, OpOption> option;
  double seconds = 0; ///< of the objective: computation of a device plus priced communication
  bool exact = true;  ///< no choice of the same options has a smaller objective
  double price = 1;   ///< of a second on a link, in seconds of computation
  SideTable<OpId, double> opSeconds = {}; ///< that a device computes each op, by the cost model
  Stages stages = {};
};

} // namespace dfc
