#include "ir/machine/kernel_claims.h"

#include "ir/graph/rules/attention_shape.h"

#include <algorithm>

namespace dfc {
namespace {

// Limits of the CUDA kernels: the rows of q, k and v fit into shared memory up to 256 elements, block and row
// indices are 32 bits, and the mask has one stride for all batch axes.
bool gpuHasAttention(const ops::Attention& op, OperandTypes operands, const TensorType* mask) {
  constexpr int64_t mostWidth = 256, mostRows = int64_t{1} << 30;
  const AttentionShape shape = knownAttentionShape(op, operands);
  const auto fits = [](int64_t width) { return width >= 1 && width <= mostWidth; };
  const int64_t heads = shape.batches() * shape.heads, rows = std::max(shape.queries, shape.keys);
  const bool counts = heads > 0 && heads < mostRows && shape.queries > 0 && shape.keys > 0 &&
                      rows < mostRows && heads * ((rows + 15) / 16) < mostRows;
  return operands[0].element != ElementType::F64 && fits(shape.width) && fits(shape.valueWidth) && counts &&
         (mask == nullptr || maskStrides(shape, mask->shape).has_value());
}

// The CUDA kernel multiplies few rows, and dequantises in registers. For many rows the op is decomposed: the
// matrix is dequantised into memory once, and a library multiplies.
bool hasFewRows(OperandTypes operands) {
  constexpr int64_t mostRows = 8;
  const Shape& a = operands[0].shape;
  const int64_t inner = a[a.rank() - 1], elements = a.elements();
  return operands[0].element != ElementType::F64 && elements > 0 && elements / inner <= mostRows &&
         operands[1].shape[0] > 0;
}

} // namespace

bool claimsKernel(DeviceKind kind, const OpAttributes& attributes, OperandTypes operands) {
  const auto maskBehind = [&](size_t others) {
    return operands.size() > others ? &operands[others] : nullptr;
  };
  switch (attributes.kind()) { // the cpu's kernels take every type and size
  case OpKind::LayerNormGradient:
  case OpKind::RmsNormGradient: return true;
  case OpKind::QuantizedMatmul: return kind == DeviceKind::Cpu || hasFewRows(operands);
  case OpKind::Attention:
    return kind == DeviceKind::Cpu ||
           gpuHasAttention(attributes.as<ops::Attention>(), operands, maskBehind(3));
  case OpKind::AttentionGradient:
    return kind == DeviceKind::Cpu ||
           gpuHasAttention(attributes.as<ops::AttentionGradient>().forward, operands, maskBehind(6));
  default: return false;
  }
}

bool everyKindClaims(const OpAttributes& attributes, OperandTypes operands) {
  return claimsKernel(DeviceKind::Cpu, attributes, operands) &&
         claimsKernel(DeviceKind::Gpu, attributes, operands);
}

} // namespace dfc
