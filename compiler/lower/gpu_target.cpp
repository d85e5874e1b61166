#include "compiler/lower/gpu_target.h"

#include "compiler/lower/tile_matmul.h"

namespace dfc::cuda {

GpuTarget GpuTarget::of(const DeviceRow& device) {
  return {device.architecture.empty() || runsTiles(device.architecture), GpuShape::of(device)};
}

} // namespace dfc::cuda
