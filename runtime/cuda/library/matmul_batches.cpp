#include "runtime/cuda/library/matmul_batches.h"

namespace dfc::cuda {
namespace {

int64_t matrixElements(const Shape& shape) { return shape[shape.rank() - 2] * shape[shape.rank() - 1]; }

/// Elements to step along each batch axis of the result: 0 where the operand is broadcast.
std::vector<int64_t> batchStrides(const Shape& operand, const Shape& result) {
  std::vector<int64_t> strides(result.rank() - 2);
  int64_t stride = matrixElements(operand);
  for (size_t back = 3; back <= operand.rank(); ++back) {
    const int64_t extent = operand[operand.rank() - back];
    strides[result.rank() - back] = extent == 1 ? 0 : stride;
    stride *= extent;
  }
  return strides;
}

} // namespace

// The longest run of inner axes along which all three step evenly becomes the strided batch; the rest, calls.
MatmulBatches matmulBatches(const Shape& a, const Shape& b, const Shape& result) {
  MatmulBatches batches;
  const std::array strides = {batchStrides(a, result), batchStrides(b, result), batchStrides(result, result)};
  size_t axis = result.rank() - 2;
  while (axis > 0 && result[axis - 1] == 1) {
    --axis;
  }
  if (axis > 0) {
    --axis;
    batches.count = result[axis];
    batches.strideA = strides[0][axis], batches.strideB = strides[1][axis],
    batches.strideC = strides[2][axis];
    while (axis > 0 && strides[0][axis - 1] == batches.strideA * batches.count &&
           strides[1][axis - 1] == batches.strideB * batches.count &&
           strides[2][axis - 1] == batches.strideC * batches.count) {
      batches.count *= result[--axis];
    }
  }
  while (axis > 0) {
    --axis;
    std::vector<std::array<int64_t, 3>> more;
    for (int64_t i = 0; i < result[axis]; ++i) {
      for (const auto& offset : batches.offsets) {
        more.push_back({offset[0] + i * strides[0][axis], offset[1] + i * strides[1][axis],
                        offset[2] + i * strides[2][axis]});
      }
    }
    batches.offsets = std::move(more);
  }
  return batches;
}

} // namespace dfc::cuda
