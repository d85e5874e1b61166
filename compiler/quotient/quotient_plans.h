// quotientPlans: predictions for machines with more devices than a plan is made for: the plans of all grids
// of pipeline stages, groups and devices per group (quotient_plan.h).
#pragma once

#include "compiler/quotient/quotient_plan.h"

namespace dfc {

/// The largest class of alike devices without the host, in the machine's order; empty if the host is the only
/// device.
std::vector<DeviceId> largestClass(const Machine& machine);

/// The best first (`isBetter`), but with `wanted`: the plan of that grid, then the others. `written`: a graph
/// without pins, as for `compile`. Errors: those of the graph's passes; a wanted grid with more or fewer
/// devices than the machine, or over which the graph cannot be split.
Result<std::vector<QuotientPlan>> quotientPlans(const Graph& written, const Machine& machine,
                                                const CostModel& cost, const CompileOptions& options,
                                                const std::optional<WantedGrid>& wanted = {});

} // namespace dfc
