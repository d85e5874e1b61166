#include "ir/machine/gpu_shape.h"

namespace dfc {

GpuShape GpuShape::of(const DeviceRow& device) {
  const auto stated = [](uint32_t value, int64_t assumed) { return value > 0 ? int64_t{value} : assumed; };
  return {stated(device.multiprocessors, assumedMultiprocessors),
          stated(device.threadsPerMultiprocessor, assumedThreads),
          stated(device.sharedBytesPerBlock, assumedSharedBytes)};
}

} // namespace dfc
