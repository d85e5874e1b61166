// QuotientMachine: a machine of many alike devices reduced by symmetry. The devices of a pipeline stage run
// the same ops at the same time, so the first device of each stage is simulated, and a mirror represents the
// other devices of its stage. A mirror is a simulated device whose ops take no time: it receives what the
// first device sends to them, and sends copies of it back over links of the same bandwidth and latency.
#pragma once

#include "compiler/cost/cost_model.h"
#include "compiler/grids.h"
#include "ir/machine/machine.h"

namespace dfc {

struct QuotientMachine {
  Machine machine; ///< the host, and for each stage one device with up to two mirrors: of its group, of other
                   ///< groups
  GridRows rows;   ///< of mirrored meshes
};

/// `devices`: alike devices, dealt out as by `gridRows`. A link that several devices of an interconnect
/// domain use at the same time, such as a host's network port, has its bandwidth divided by their number.
QuotientMachine quotientMachine(const Machine& machine, llvm::ArrayRef<DeviceId> devices, const Grid& grid,
                                const CostModel& cost);

} // namespace dfc
