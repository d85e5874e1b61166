#include "runtime/cpu/kernels/matmul/fused_matmul.h"

#include "runtime/cpu/kernels/elementwise/elementwise.h"
#include "runtime/cpu/kernels/matmul/matmul.h"
#include "runtime/cpu/kernels/matmul/panel_product.h"
#include "runtime/cpu/kernels/scratch.h"

#include <llvm/ADT/STLExtras.h>

namespace dfc {
namespace {

/// The memory of the product.
class ProductPlace {
 public:
  ProductPlace(const TensorType& product, const TensorType& result)
      : bytes_(static_cast<size_t>(product.bytes())), sameType_(product == result) {}

  /// Whether the result's buffer may hold it.
  bool isFree(llvm::ArrayRef<const std::byte*> others, const std::byte* result) const {
    return sameType_ && !llvm::is_contained(others, result);
  }
  std::byte* of(llvm::ArrayRef<const std::byte*> others, std::byte* result) const {
    return isFree(others, result) ? result : threadIntermediate(bytes_);
  }

 private:
  size_t bytes_;
  bool sameType_;
};

/// The operands of the epilogue.
llvm::SmallVector<const std::byte*, 4> inputsOf(const std::byte* product,
                                                llvm::ArrayRef<const std::byte*> others) {
  llvm::SmallVector<const std::byte*, 4> inputs{product};
  inputs.append(others.begin(), others.end());
  return inputs;
}

class PanelwiseKernel final : public CpuKernel {
 public:
  PanelwiseKernel(const ops::FusedMatmul& op, OperandTypes operands, OperandTypes results,
                  std::unique_ptr<PanelProduct> product, ElementwisePieces finish)
      : place_(op.productType(operands), results.front()),
        width_(static_cast<uintptr_t>(byteWidth(op.productType(operands).element))),
        product_(std::move(product)), finish_(std::move(finish)) {}

  bool hold(llvm::ArrayRef<Held> operands) override { return product_->hold(operands[1]); }
  void heldChanged() override { product_->heldChanged(); }

  void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) override {
    constexpr size_t mostOfOwn = 4 << 20; // bytes that each thread would keep
    const auto others = operands.drop_front(2);
    const bool ofOwn = product_->makesApart() ||
                       (!place_.isFree(others, results.front()) && product_->panelBytes() <= mostOfOwn);
    std::byte* const place = ofOwn ? nullptr : place_.of(others, results.front());
    product_->run(operands[0], operands[1], place, finish_.scratchBytes(),
                  [&](const MatmulPanel& panel, const std::byte* made, int64_t stride, std::byte* scratch) {
                    finish_.run(inputsOf(asWhole(made, panel), others), results.front(),
                                {panel.cOffset, panel.columns, panel.rows, product_->plan().columns, stride},
                                scratch);
                  });
  }

 private:
  // The address at which the whole product would begin for this panel to be at its offset. The epilogue has
  // the shape of the product, so it reads nothing but the panel.
  const std::byte* asWhole(const std::byte* made, const MatmulPanel& panel) const {
    return reinterpret_cast<const std::byte*>(reinterpret_cast<uintptr_t>(made) -
                                              static_cast<uintptr_t>(panel.cOffset) * width_);
  }

  ProductPlace place_;
  uintptr_t width_; ///< bytes of the product's elements
  std::unique_ptr<PanelProduct> product_;
  ElementwisePieces finish_;
};

/// For products that are computed in another type, have no terms, or have fewer parts than the epilogue: the
/// product's kernel, then the kernel of the epilogue.
class InTurnKernel final : public CpuKernel {
 public:
  InTurnKernel(const ops::FusedMatmul& op, OperandTypes operands, OperandTypes results, ThreadPool& pool)
      : place_(op.productType(operands), results.front()),
        multiply_(makeMatmulKernel(op.product(), operands.take_front(2), op.productType(operands), pool)),
        finish_(makeElementwiseKernel(op.epilogue(), op.epilogueOperands(operands), results, pool)) {}

  bool hold(llvm::ArrayRef<Held> operands) override { return multiply_->hold(operands.take_front(2)); }
  void heldChanged() override { multiply_->heldChanged(); }

  void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) override {
    const auto others = operands.drop_front(2);
    std::byte* const product = place_.of(others, results.front());
    multiply_->run(operands.take_front(2), product);
    finish_->run(inputsOf(product, others), results);
  }

 private:
  ProductPlace place_;
  std::unique_ptr<CpuKernel> multiply_, finish_;
};

} // namespace

std::unique_ptr<CpuKernel> makeFusedMatmulKernel(const ops::FusedMatmul& op, OperandTypes operands,
                                                 OperandTypes results, ThreadPool& pool) {
  const TensorType product = op.productType(operands);
  const OperandTypes factors = operands.take_front(2);
  ElementwisePieces finish(op.epilogue(), op.epilogueOperands(operands), results.front());
  if (PanelProduct::partsOf(op.product(), factors, product, pool) >= finish.parts(pool)) {
    if (auto panels = PanelProduct::make(op.product(), factors, product, pool)) {
      return std::make_unique<PanelwiseKernel>(op, operands, results, std::move(panels), std::move(finish));
    }
  }
  return std::make_unique<InTurnKernel>(op, operands, results, pool);
}

} // namespace dfc
