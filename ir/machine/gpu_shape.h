// GpuShape: how many threads a GPU runs at once, by which launches are sized.
#pragma once

#include "ir/machine/machine.h"

namespace dfc {

/// The parallel resources of a GPU. A kernel sized for another shape is right all the same, but leaves
/// multiprocessors idle.
struct GpuShape {
  int64_t multiprocessors = 0;
  int64_t threadsPerMultiprocessor = 0; ///< resident at once
  int64_t residentThreads() const { return multiprocessors * threadsPerMultiprocessor; }

  /// The shape of a machine file's device. A device that does not state one is planned for as
  /// `assumedMultiprocessors` of `assumedThreads`.
  static GpuShape of(const DeviceRow& device);

  static constexpr int64_t assumedMultiprocessors = 132;
  static constexpr int64_t assumedThreads = 2048;
  static GpuShape assumed() { return {assumedMultiprocessors, assumedThreads}; }
};

} // namespace dfc
