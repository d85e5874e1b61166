// stepOrder: the ops of a placement in an order of small memory peaks, as the memory planner would run them
// where memory is short (compiler/memory/low_peak_order.h), and the bytes that are left for their results.
#pragma once

#include "compiler/memory/low_peak_order.h"
#include "compiler/place/place.h"

#include <vector>

namespace dfc {

struct StepOrder {
  std::vector<OpId> ops;                  ///< a topological order; without parameters and constants
  SideTable<DeviceId, int64_t> available; ///< bytes behind resident values; the largest number: no limit
  SideTable<DeviceId, int64_t> peak;      ///< most bytes of values alive at once, where there is a limit
};

/// The peak as a multiple of the available bytes, on the device where that is the largest.
double useOf(const StepOrder& order);

/// False where the order exceeds the memory of a device by more than another order is likely to save: then no
/// schedule is worth a trial.
bool mayFit(const StepOrder& order);

/// `sources`: of `lowPeakOrder`. AtStart: of the orders by the graph's ops and by need (`ranksByNeed`), the
/// one that exceeds the memory less. WhenNeeded: the order by the graph's ops.
StepOrder stepOrder(const Placement& placement, const Machine& machine, const CostModel& cost,
                    Sources sources = Sources::AtStart);

} // namespace dfc
