// What this host is, for the record beside the numbers: who measured, when, with which driver and libraries.
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

/// Bytes of this process that are in memory now.
int64_t residentBytes();
/// Gives freed memory back, lets the peak of this process begin anew and gives the bytes in memory now.
int64_t forgetPeak();
/// The most bytes of this process that were in memory at once since `forgetPeak`, or ever where the system
/// cannot forget.
int64_t peakBytes();

} // namespace dfc::bench
