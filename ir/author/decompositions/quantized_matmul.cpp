// quantizedMatmul as a matmul with the dequantised matrix: its meaning, and what devices compute for many
// rows, where writing the matrix down once costs less than the product.
#include "ir/author/decompositions.h"
#include "ir/author/dsl.h"
#include "ir/author/gradient_parts.h"
#include "ir/author/quantized.h"

namespace dfc {

std::vector<Tensor> decomposition(const ops::QuantizedMatmul& op, llvm::ArrayRef<Tensor> operands) {
  return {matmul(operands[0], dequantized(operands[1], operands[2], op.bits), {.b = true})};
}

} // namespace dfc
