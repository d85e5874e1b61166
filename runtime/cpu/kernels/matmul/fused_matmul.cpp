#include "runtime/cpu/kernels/matmul/fused_matmul.h"

#include "runtime/cpu/kernels/elementwise/elementwise.h"
#include "runtime/cpu/kernels/matmul/matmul.h"
#include "runtime/cpu/kernels/scratch.h"

#include <llvm/ADT/STLExtras.h>

namespace dfc {
namespace {

class FusedMatmulKernel final : public CpuKernel {
 public:
  FusedMatmulKernel(const ops::FusedMatmul& op, OperandTypes operands, OperandTypes results, ThreadPool& pool)
      : product_(op.productType(operands)),
        multiply_(makeMatmulKernel(op.product(), operands.take_front(2), product_, pool)),
        finish_(makeElementwiseKernel(op.epilogue(), op.epilogueOperands(operands), results, pool)),
        sameType_(product_ == results.front()) {}

  void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) override {
    std::byte* product = placeOfProduct(operands.drop_front(2), results.front());
    multiply_->run(operands.take_front(2), product);
    llvm::SmallVector<const std::byte*, 4> inputs{product};
    inputs.append(operands.begin() + 2, operands.end());
    finish_->run(inputs, results);
  }

 private:
  std::byte* placeOfProduct(llvm::ArrayRef<const std::byte*> others, std::byte* result) const {
    const bool isFree = sameType_ && !llvm::is_contained(others, result);
    return isFree ? result : threadIntermediate(static_cast<size_t>(product_.bytes()));
  }

  TensorType product_;
  std::unique_ptr<CpuKernel> multiply_, finish_;
  bool sameType_;
};

} // namespace

std::unique_ptr<CpuKernel> makeFusedMatmulKernel(const ops::FusedMatmul& op, OperandTypes operands,
                                                 OperandTypes results, ThreadPool& pool) {
  return std::make_unique<FusedMatmulKernel>(op, operands, results, pool);
}

} // namespace dfc
