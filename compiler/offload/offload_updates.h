// offloadUpdates: updates of parameters on the host, so that the state that they alone read, such as the
// moments of Adam, leaves the memory of the other devices. Each step copies the gradients to the host and the
// parameters' next values back. Source: Ren, Rajbhandari, Aminabadi, Ruwase, Yang, Zhang, Li and He 2021,
// "ZeRO-Offload: Democratizing Billion-Scale Model Training".
#pragma once

#include "compiler/cost/cost_model.h"
#include "compiler/rematerialise/step_order.h"
#include "ir/plan/placement.h"

#include <optional>

namespace dfc {

struct Offloaded {
  Placement placement;
  size_t parameters = 0; ///< that are updated on the host, parts of a cut parameter counted one by one
};

/// `order`: the placement's `stepOrder`. `margin`: part of a device's memory that stays free behind what the
/// order needs. On each device that lacks memory, updates are taken until the state that leaves it suffices,
/// or all of them: those first whose gradients are ready first, whose copies most work is left to hide. Empty
/// where no device lacks memory, or where no update frees any.
std::optional<Offloaded> offloadUpdates(const Placement& placement, const StepOrder& order,
                                        const Machine& machine, const CostModel& cost, double margin);

} // namespace dfc
