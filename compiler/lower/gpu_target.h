// GpuTarget: what launches are planned for, as the machine file states it.
#pragma once

#include "ir/machine/gpu_shape.h"

namespace dfc::cuda {

struct GpuTarget {
  /// Whether it runs the tiles of `tile_matmul.h` and of attention: tensor cores for tf32 and asynchronous
  /// copies to shared memory. True where the machine file states no architecture.
  bool tiles = true;
  GpuShape gpu = GpuShape::assumed(); ///< that generated launches are sized for

  static GpuTarget of(const DeviceRow& device);
};

} // namespace dfc::cuda
