// The clock of everything that is timed on the host.
#pragma once

#include <chrono>

namespace dfc {

/// The clock of all spans: seconds of std::chrono::steady_clock.
inline double steadySeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

} // namespace dfc
