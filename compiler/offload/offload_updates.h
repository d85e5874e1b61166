// offloadUpdates: state that only updates of parameters read, such as the moments of Adam, in the memory of
// the host, in one of two ways. The update runs on the host: each step copies the gradient there and the
// parameter's next value back (Ren, Rajbhandari, Aminabadi, Ruwase, Yang, Zhang, Li and He 2021,
// "ZeRO-Offload: Democratizing Billion-Scale Model Training"). Or it stays on its device, and each step
// copies the state there and back (Rajbhandari, Ruwase, Rasley, Smith and He 2021, "ZeRO-Infinity: Breaking
// the GPU Memory Wall for Extreme Scale Deep Learning").
#pragma once

#include "compiler/cost/cost_model.h"
#include "compiler/rematerialise/step_order.h"
#include "ir/plan/placement.h"

#include <optional>

namespace dfc {

struct Offloaded {
  Placement placement;
  /// Parts of a cut parameter are counted one by one.
  size_t onHost = 0;   ///< parameters that are updated on the host
  size_t streamed = 0; ///< parameters that are copied to their update and back
};

/// Whether state may be copied to updates that stay on their device. The copies take memory of the device
/// during the update. Later: the first updates run on the host, until the memory of their gradients, freed
/// on the device, holds the copies for the other updates.
enum class StateCopies : uint8_t { Allowed, Later, None };

/// `order`: the placement's `stepOrder`. `margin`: part of a device's memory that stays free behind what the
/// order needs. On each device that lacks memory, updates are taken until the state that leaves it suffices,
/// or all of them: updates of early gradients first, as more work is left to hide their copies. Each
/// goes the way that leaves the busier of the host and the links with less to do. Empty where no device lacks
/// memory, or where no update frees any.
std::optional<Offloaded> offloadUpdates(const Placement& placement, const StepOrder& order,
                                        const Machine& machine, const CostModel& cost, double margin,
                                        StateCopies copies = StateCopies::Allowed);

} // namespace dfc
