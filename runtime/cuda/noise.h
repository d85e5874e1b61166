// Memory full of numbers that are not all alike: zeros draw less power and run faster than data does.
#pragma once

#include "runtime/cuda/memory.h"

namespace dfc::cuda {

/// Bits that are finite numbers of moderate size, seen as f16, bf16, f32, f64 or integers. Throws
/// MachineError.
DeviceBuffer noise(int ordinal, int64_t bytes);

} // namespace dfc::cuda
