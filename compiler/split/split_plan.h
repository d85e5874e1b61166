// SplitPlan: how each op of a graph runs on a mesh.
#pragma once

#include "compiler/split/mesh.h"
#include "compiler/split/op_options.h"

namespace dfc {

struct SplitPlan {
  Mesh mesh;
  SideTable<OpId, OpOption> option;
  double seconds = 0; ///< of the objective: computation of a device plus priced communication
  bool exact = true;  ///< no choice of the same options has a smaller objective
  double price = 1;   ///< of a second on a link, in seconds of computation
  SideTable<OpId, double> opSeconds = {}; ///< that a device computes each op, by the cost model
};

} // namespace dfc
