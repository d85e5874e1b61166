// The batch axes of a product as strided batches, each of which is one call of cuBLASLt.
#pragma once

#include "ir/graph/tensor_type.h"

#include <array>
#include <vector>

namespace dfc::cuda {

/// One strided batch per call, and the offsets of the calls.
struct MatmulBatches {
  int64_t count = 1;                                      ///< products a call
  int64_t strideA = 0, strideB = 0, strideC = 0;          ///< elements between them
  std::vector<std::array<int64_t, 3>> offsets{{0, 0, 0}}; ///< of a, b and the result, elements, a call each
};

/// Shapes [..., rows, columns] whose batch axes broadcast to the result's as NumPy does.
MatmulBatches matmulBatches(const Shape& a, const Shape& b, const Shape& result);

} // namespace dfc::cuda
