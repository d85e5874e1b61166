// The host, for the record beside the numbers: processor, driver and libraries, date and version of dfc.
#pragma once

#include <cstdint>
#include <string>

namespace dfc::bench {

struct HostFacts {
  std::string cpu; ///< its model
  uint32_t threads = 1;
  std::string driver;  ///< version of the NVIDIA kernel module; "" without one
  std::string cuda;    ///< versions of the CUDA libraries that dfc opens, "13.0, cuBLASLt 13.1.0"; "" without
  std::string date;    ///< UTC, "2025-01-31T12:00:00Z"
  std::string version; ///< tool::sourceVersion()
};

HostFacts hostFacts();

/// Resident bytes of this process.
int64_t residentBytes();
/// Returns freed memory to the system, resets the peak of this process, and returns the resident bytes.
int64_t forgetPeak();
/// The peak of the resident bytes since `forgetPeak`, or since the start where the system cannot reset it.
int64_t peakBytes();

} // namespace dfc::bench
