// Operands for measurements: values that differ, since zeros draw less power and run faster than data.
#pragma once

#include "ir/graph/tensor_type.h"
#include "runtime/cuda/memory.h"

namespace dfc::cuda {

/// Bits that are finite numbers of moderate size, seen as f16, bf16, f32, f64 or integers. Throws
/// MachineError.
DeviceBuffer noise(int ordinal, int64_t bytes);
/// A tensor of indices (i32 or i64) spread over an axis of this length. Throws MachineError.
DeviceBuffer indices(int ordinal, const TensorType& type, int64_t length);

} // namespace dfc::cuda
