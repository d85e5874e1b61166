// stepOrder: the ops of a placement in an order of small memory peaks, as the memory planner would run them
// where memory is short (compiler/memory/low_peak_order.h), and the bytes that are left for their results.
#pragma once

#include "compiler/place/place.h"

#include <vector>

namespace dfc {

struct StepOrder {
  std::vector<OpId> ops;                  ///< a topological order; without parameters and constants
  SideTable<DeviceId, int64_t> available; ///< bytes behind resident values; the largest number: no limit
};

StepOrder stepOrder(const Placement& placement, const Machine& machine, const CostModel& cost);

} // namespace dfc
