#include "runtime/cuda/vector_matmul.h"

namespace dfc::cuda {

std::optional<GeneratedWork> generateVectorMatmul(const ops::Matmul& matmul, OperandTypes operands,
                                                  const TensorType& result) {
  const ElementType element = result.element;
  const Shape &a = operands[0].shape, &b = operands[1].shape;
  if ((element != ElementType::F32 && element != ElementType::F64) || a.rank() != 2 || b.rank() != 2) {
    return std::nullopt;
  }
  const int64_t rows = result.shape[0], columns = result.shape[1];
  const int64_t inner = a[matmul.transposeA ? 0 : 1];
  if ((rows != 1 && columns != 1) || inner == 0) {
    return std::nullopt;
  }
  // The matrix lies [kept, inner] or [inner, kept]; the vector is laid along the inner axis of it.
  const bool matrixIsA = columns == 1;
  const bool innerLast = matrixIsA ? !matmul.transposeA : matmul.transposeB;
  const int64_t kept = matrixIsA ? rows : columns;
  const TensorType matrix{element, innerLast ? Shape{kept, inner} : Shape{inner, kept}};
  const TensorType vector{element, innerLast ? Shape{1, inner} : Shape{inner, 1}};
  ops::Fused fused;
  fused.body.instructions.push_back({OpKind::Mul, 0, element, {0, 1}});
  fused.reduction = ops::Fused::Reduction::Sum;
  fused.axes = {innerLast ? 1 : 0};
  const TensorType types[] = {matrixIsA ? matrix : vector, matrixIsA ? vector : matrix};
  const TensorType sums{element, Shape{kept}};
  return generateKernels(fused, types, sums);
}

} // namespace dfc::cuda
