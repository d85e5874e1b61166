// InFlight: the micro-batches of a pipeline that a stage has begun and not finished, and which values each of
// them keeps. A 1F1B schedule (Narayanan et al. 2019, "PipeDream") runs the forward passes of several
// micro-batches on a stage before the backward pass of the first one returns from the later stages.
#pragma once

#include "compiler/place/place.h"

#include <limits>

namespace dfc {

/// Of each device: its stage, and how many micro-batches are in flight there at most.
struct InFlight {
  static constexpr uint32_t noStage = std::numeric_limits<uint32_t>::max();
  SideTable<DeviceId, uint32_t> stage; ///< `noStage` for devices outside the pipeline, such as the host
  SideTable<DeviceId, uint32_t> count;
};

/// By op: the latest stage among the op and the ops of its micro-batch that it depends on. An op that exceeds
/// its own device's stage belongs to the part of a micro-batch that returns from later stages, such as the
/// backward pass. 0 for ops of no micro-batch.
SideTable<OpId, uint32_t> latestStages(const Placement& placement, const InFlight& inFlight);

/// By device: the bytes that a micro-batch keeps there from its forward to its backward pass, which are
/// values that were there before it went to later stages, and are read when it returns.
SideTable<DeviceId, double> keptBytes(const Placement& placement, const InFlight& inFlight);

} // namespace dfc
