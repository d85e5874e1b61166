// machineFaults: the faults of a machine by JSON path, so that the verifier can report them for an object and
// the parser at a place in a file.
#pragma once

#include "ir/machine/machine.h"

namespace dfc {

struct MachineFault {
  std::string path;    ///< "links[2].bandwidth"
  std::string message; ///< the fault
  std::string hint;
};

/// The most queues that a device may have: far above real ones, low enough that tables by queue stay small.
inline constexpr uint32_t mostComputeQueues = 1024;

/// The most threads of a device: a run starts as many as the plan says.
inline constexpr uint32_t mostThreads = 4096;
inline constexpr uint32_t mostMultiprocessors = 65536;
inline constexpr uint32_t mostThreadsPerMultiprocessor = 65536;
/// The longest `matmulHalfInner`, in bytes.
inline constexpr double mostHalfInner = 1e9;
inline constexpr double mostHalfTile = 1e6;

/// The most devices of a machine.
inline constexpr size_t mostDevices = 4096;

/// The slowest rate and the longest duration: far beyond real ones. An op has less than 1e45 operations and
/// bytes, a plan fewer than 2^32 steps, so no sum of predicted times leaves the numbers that a double has.
inline constexpr double leastRate = 1e-30, mostSeconds = 1e30;

std::vector<MachineFault> machineFaults(const Machine& machine);

/// The device's name, or "device 7" when the machine has no such row.
std::string deviceText(const Machine& machine, DeviceId device);
/// Every device's name, for hints: "cpu0, gpu0".
std::string deviceList(const Machine& machine);

} // namespace dfc
