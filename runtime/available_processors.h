// availableProcessors: how many processors this thread may run on. In a header, as modules that are opened at
// run time need it, too.
#pragma once

#include <sched.h>

#include <algorithm>
#include <cstdint>
#include <thread>

namespace dfc {

/// Those of the affinity (taskset, a container's cpuset), at least 1. The C++ library counts all of the
/// host's: threads beyond those that run at once wait for one another.
inline uint32_t availableProcessors() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) { // fails on hosts of more than 1024 processors
    return static_cast<uint32_t>(std::max(1, CPU_COUNT(&allowed)));
  }
  return std::max(1U, std::thread::hardware_concurrency());
}

} // namespace dfc
