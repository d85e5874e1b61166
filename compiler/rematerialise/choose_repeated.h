// chooseRepeated: which ops of an order are computed a second time, so that the bytes alive fit.
#pragma once

#include "compiler/rematerialise/lifetimes.h"

namespace dfc {

/// Marks ops in `lifetimes`, evaluated. `limits`: bytes by device. False where no choice fits.
bool chooseRepeated(Lifetimes& lifetimes, const Placement& placement, const StepOrder& order,
                    const SideTable<DeviceId, int64_t>& limits, const Machine& machine,
                    const CostModel& cost);

} // namespace dfc
