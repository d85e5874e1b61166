// Intervals of time, each from its begin to its end.
#pragma once

#include <utility>
#include <vector>

namespace dfc {

using Intervals = std::vector<std::pair<double, double>>;

/// Sorted, and joined where they touch or overlap.
Intervals united(Intervals intervals);

/// How much of [begin, end] lies within the united intervals.
double overlapOf(const Intervals& united, double begin, double end);

} // namespace dfc
