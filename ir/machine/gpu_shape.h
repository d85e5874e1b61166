// GpuShape: how many threads a GPU runs at once and how much they share, by which launches are sized.
#pragma once

#include "ir/machine/machine.h"

namespace dfc {

/// The parallel resources of a GPU. A kernel sized for another shape is right all the same, but leaves
/// multiprocessors idle, and does not run where a block has less shared memory.
struct GpuShape {
  int64_t multiprocessors = 0;
  int64_t threadsPerMultiprocessor = 0;             ///< resident at once
  int64_t sharedBytesPerBlock = assumedSharedBytes; ///< that a launch may ask for
  int64_t residentThreads() const { return multiprocessors * threadsPerMultiprocessor; }

  /// The shape of a machine file's device. Fields that the file leaves out take the constants below.
  static GpuShape of(const DeviceRow& device);

  static constexpr int64_t assumedMultiprocessors = 132;
  static constexpr int64_t assumedThreads = 2048;
  static constexpr int64_t assumedSharedBytes = int64_t{99} * 1024; ///< the least of sm_80 to sm_90
  static GpuShape assumed() { return {assumedMultiprocessors, assumedThreads, assumedSharedBytes}; }
};

} // namespace dfc
