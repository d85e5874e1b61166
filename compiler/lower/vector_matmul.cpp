#include "compiler/lower/vector_matmul.h"

#include "compiler/lower/epilogue.h"
#include "compiler/lower/kernels/products/row_product.h"
#include "ir/base/assert.h"

namespace dfc::cuda {

namespace {

bool isPlain(ElementType element, OperandTypes factors) {
  return (element == ElementType::F32 || element == ElementType::F64) && factors[0].shape.rank() == 2 &&
         factors[1].shape.rank() == 2;
}

int64_t innerOf(const ops::Matmul& matmul, OperandTypes factors) {
  return factors[0].shape[matmul.transposeA ? 0 : 1];
}

GeneratedKernels kernelsOf(const ops::Fused& fused, OperandTypes operands, OperandTypes results,
                           const GpuShape& gpu) {
  auto work = generateKernels(fused, operands, results, gpu);
  DFC_ASSERT(work.has_value(), "a product as a fused op");
  return *std::move(work);
}

} // namespace

bool isVectorProduct(const ops::Matmul& matmul, OperandTypes factors, const TensorType& result) {
  return isPlain(result.element, factors) && (result.shape[0] == 1 || result.shape[1] == 1) &&
         innerOf(matmul, factors) > 0;
}

GeneratedKernels generateVectorMatmul(const ops::Matmul& matmul, OperandTypes factors,
                                      const TensorType& result, const GpuShape& gpu) {
  const ElementType element = result.element;
  const int64_t rows = result.shape[0], columns = result.shape[1], inner = innerOf(matmul, factors);
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
  return kernelsOf(fused, types, sums, gpu);
}

GeneratedKernels generateRowProduct(const OpRow& row, OperandTypes operands, const TensorType& result,
                                    const GpuShape& gpu) {
  const auto* fused = row.getIf<ops::FusedMatmul>();
  return rowProductKernel(
      *RowProduct::of(productOf(row), operands.take_front(2)),
      fused == nullptr
          ? identityChain(result)
          : elementwiseChain(fused->epilogue(), fused->epilogueOperands(operands), result.element),
      gpu);
}

bool isOuterProduct(const ops::Matmul& matmul, OperandTypes factors) {
  return isPlain(factors[0].element, factors) && innerOf(matmul, factors) == 1;
}

GeneratedKernels generateOuterProduct(const OpRow& row, OperandTypes operands, OperandTypes results,
                                      const GpuShape& gpu) {
  const Shape &a = operands[0].shape, &b = operands[1].shape;
  ops::Fused fused;
  fused.body.instructions.push_back({OpKind::Mul, 0, operands[0].element, {0, 1}});
  llvm::SmallVector<TensorType, 6> types(operands.begin(), operands.end());
  types[0].shape = Shape{a.elements(), 1}; // one of its extents is 1: the bytes are the same
  types[1].shape = Shape{1, b.elements()};
  if (const auto* whole = row.getIf<ops::FusedMatmul>()) {
    // There register 0 is the product and operands begin at 1; here both factors come first, then the product
    // behind all operands.
    const auto product = static_cast<uint32_t>(operands.size());
    for (ops::FusedInstruction instruction : whole->body.instructions) {
      for (uint32_t& input : instruction.inputs) {
        input = input == 0 ? product : input + 1 + (input + 1 >= product ? 1 : 0);
      }
      fused.body.instructions.push_back(std::move(instruction));
    }
  }
  return kernelsOf(fused, types, results, gpu);
}

} // namespace dfc::cuda
