// Spread: median and extremes of repeated timings.
#pragma once

#include <cstdint>
#include <vector>

namespace dfc::bench {

/// How a step is timed: `warmUp` steps unmeasured, and more until they have taken `warmSeconds`, then
/// `samples` times `steps` steps, submitted back to back and awaited together.
struct Sampling {
  uint32_t samples = 7, steps = 50, warmUp = 5;
  double warmSeconds = 0;
};

/// Seconds of one step.
struct Spread {
  double median = 0, least = 0, most = 0;
  uint32_t samples = 0;
};

/// The spread of at least one time. The median of an even number is the upper of the two middle ones.
Spread spreadOf(std::vector<double> seconds);

} // namespace dfc::bench
