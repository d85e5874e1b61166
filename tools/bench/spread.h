// Spread: what repeated timing of one thing gave. A median says how long it takes, the extremes how far to
// trust that.
#pragma once

#include <cstdint>
#include <vector>

namespace dfc::bench {

/// How something is timed: `warmUp` steps unmeasured, and more until they have taken `warmSeconds`, then
/// `samples` times `steps` steps submitted back to back and waited for together.
struct Sampling {
  uint32_t samples = 7, steps = 50, warmUp = 5;
  double warmSeconds = 0;
};

/// Seconds of one step.
struct Spread {
  double median = 0, least = 0, most = 0;
  uint32_t samples = 0;
};

/// The spread of at least one time; of an even number the upper of the two middle ones.
Spread spreadOf(std::vector<double> seconds);

} // namespace dfc::bench
