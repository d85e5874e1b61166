// QuotientMachine: a machine of many alike devices reduced by symmetry. The devices of a pipeline stage run
// the same ops at the same time, so one of them is simulated. A mirror, a device whose ops take no time,
// stands for its peers: it holds copies of the values that the first device sends, and sends them back at the
// rate of the peers' links.
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
