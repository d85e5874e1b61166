// QuotientMachine: a grid of many alike devices as one device a stage and its mirrors. Devices of a stage do
// the same at the same time, so one of them is simulated; what it receives from the others comes from a
// device without costs that has copies of what the first sends, at the rate at which the others send.
#pragma once

#include "compiler/cost/cost_model.h"
#include "compiler/grids.h"
#include "ir/machine/machine.h"

namespace dfc {

struct QuotientMachine {
  Machine machine; ///< the host, and of each stage a device and its mirrors
  GridRows rows;   ///< mirrored
};

/// `devices`: alike, in the order of the machine file: of each stage its groups, of each group its devices.
/// A link between hosts that several devices use at once has its share for each.
QuotientMachine quotientMachine(const Machine& machine, llvm::ArrayRef<DeviceId> devices, const Grid& grid,
                                const CostModel& cost);

} // namespace dfc
