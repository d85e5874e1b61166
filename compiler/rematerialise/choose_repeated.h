// chooseRepeated: which ops of an order are computed a second time, so that the bytes alive fit.
#pragma once

#include "compiler/rematerialise/lifetimes.h"

namespace dfc {

struct RepetitionProblem {
  const Placement& placement;
  const StepOrder& order;                     ///< of `lifetimes`
  const SideTable<DeviceId, int64_t>& limits; ///< bytes by device
  const Machine& machine;
  const CostModel& cost;
};

/// Marks ops in `lifetimes`, evaluated. False where no choice fits.
bool chooseRepeated(Lifetimes& lifetimes, const RepetitionProblem& problem);

} // namespace dfc
