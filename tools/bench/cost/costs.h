// The cost table, which a bare `dfc-bench` prints: the cost of dfc itself beside its baselines.
#pragma once

#include "tools/bench/baselines.h"

namespace dfc::bench {

/// The functions of costs.def, in its order.
llvm::ArrayRef<void (*)(Harness&, const BaselineOptions&)> allCosts();

#define DFC_COST(function, name, title) void function(Harness&, const BaselineOptions&);
#include "tools/bench/cost/costs.def"
#undef DFC_COST

} // namespace dfc::bench
