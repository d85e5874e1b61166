#include "runtime/cpu/kernels/matmul/matmul.h"

#include "runtime/cpu/kernels/matmul/copy_rows.h"
#include "runtime/cpu/kernels/matmul/panel_product.h"
#include "runtime/cpu/kernels/widened.h"
#include "runtime/cpu/kernels/zero_kernel.h"
#include "runtime/errors.h"

namespace dfc {
namespace {

class MatmulKernel final : public CpuKernel {
 public:
  MatmulKernel(std::unique_ptr<PanelProduct> product, ElementType type)
      : product_(std::move(product)), width_(byteWidth(type)) {}

  bool hold(llvm::ArrayRef<Held> operands) override { return product_->hold(operands[1]); }
  void heldChanged() override { product_->heldChanged(); }

  void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) override {
    std::byte* const c = results[0];
    const int64_t columns = product_->plan().columns;
    product_->run(operands[0], operands[1], c, 0,
                  [&](const MatmulPanel& panel, const std::byte* made, int64_t stride, std::byte*) {
                    if (product_->makesApart()) {
                      copyRows(made, stride * width_, c + panel.cOffset * width_, columns * width_,
                               panel.columns * width_, panel.rows);
                    }
                  });
  }

 private:
  std::unique_ptr<PanelProduct> product_;
  int64_t width_;
};

std::unique_ptr<CpuKernel> makeDirect(const ops::Matmul& op, OperandTypes operands, OperandTypes results,
                                      ThreadPool& pool) {
  auto product = PanelProduct::make(op, operands, results, pool);
  return product ? std::make_unique<MatmulKernel>(std::move(product), results[0].element) : nullptr;
}

} // namespace

std::unique_ptr<CpuKernel> makeMatmulKernel(const ops::Matmul& op, OperandTypes operands,
                                            OperandTypes results, ThreadPool& pool) {
  const ElementType type = results[0].element;
  if (isEmptyProduct(op, operands, results)) {
    return std::make_unique<ZeroKernel>(results[0].bytes());
  }
  if (type != ElementType::F16) {
    auto direct = makeDirect(op, operands, results, pool);
    if (direct || type != ElementType::BF16) {
      return direct ? std::move(direct)
                    : throw MachineError(
                          "oneDNN has no f32 matmul on this processor; install another build of it");
    }
  }
  return makeWidenedKernel(makeDirect(op, widenedTypes(operands), widenedTypes(results), pool), operands,
                           results, pool);
}

} // namespace dfc
