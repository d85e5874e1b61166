// The matrix product by its definition: a sum over k for each element of the result. What may be rounded to
// tf32 is not.
#include "compiler/interpreter/evaluate_parts.h"

namespace dfc::evaluation {
namespace {

// An element of a batched matrix after its optional transpose; batch axes broadcast.
Scalar matrixElement(const Literal& matrix, bool transposed, llvm::ArrayRef<int64_t> batch, int64_t row,
                     int64_t column) {
  Index index(batch.begin(), batch.end());
  index.push_back(transposed ? column : row);
  index.push_back(transposed ? row : column);
  return load(matrix, offsetOf(matrix.type().shape, index));
}

} // namespace

Literal matmul(const ops::Matmul& op, Operands operands, const TensorType& type) {
  const Shape& left = operands[0].type().shape;
  const int64_t inner = left[left.rank() - (op.transposeA ? 2 : 1)];
  Literal result(type);
  int64_t next = 0;
  forEachIndex(type.shape, [&](llvm::ArrayRef<int64_t> index) {
    const llvm::ArrayRef<int64_t> batch = index.drop_back(2);
    const int64_t row = index[index.size() - 2], column = index[index.size() - 1];
    double sum = 0;
    uint64_t wholeSum = 0;
    for (int64_t k = 0; k < inner; ++k) {
      const Scalar a = matrixElement(operands[0], op.transposeA, batch, row, k);
      const Scalar b = matrixElement(operands[1], op.transposeB, batch, k, column);
      sum += a.real * b.real;
      wholeSum += static_cast<uint64_t>(a.whole) * static_cast<uint64_t>(b.whole);
    }
    store(result, next++,
          isFloat(type.element) ? rounded(type.element, sum) : wrapped(type.element, wholeSum));
  });
  return result;
}

Literal fusedMatmul(const ops::FusedMatmul& op, Operands operands, const TensorType& type) {
  const TensorType factors[2] = {operands[0].type(), operands[1].type()};
  llvm::SmallVector<Literal, 4> inputs{matmul(op.product(), operands.take_front(2), op.productType(factors))};
  inputs.append(operands.begin() + 2, operands.end());
  return fused(op.epilogue(), inputs, type);
}

} // namespace dfc::evaluation
