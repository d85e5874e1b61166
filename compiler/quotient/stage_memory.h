// stageMemory: the bytes that one device of each pipeline stage needs, from a graph with few of a step's
// micro-batches.
#pragma once

#include "compiler/rematerialise/in_flight.h"
#include "ir/machine/machine.h"

#include <vector>

namespace dfc {

/// Bytes by stage.
struct StageMemory {
  std::vector<double> state; ///< of parameters and optimiser state
  std::vector<double> all;   ///< with the values of the micro-batches in flight
};

/// Of a 1F1B schedule (Narayanan et al. 2019, "PipeDream"), in the order of the graph's ops: state, the
/// values that all micro-batches share, those of one micro-batch, and for each other one in flight the values
/// that it keeps from its forward to its backward pass (`keptBytes`). `devices`: one of each stage.
StageMemory stageMemory(const Placement& placement, const InFlight& inFlight,
                        const std::vector<DeviceId>& devices, const Machine& machine);

} // namespace dfc
