#include "runtime/cpu/kernels/matmul/packed_multiplier.h"

#include "runtime/cpu/kernels/matmul/copy_rows.h"
#include "runtime/cpu/kernels/shaped_primitives.h"
#include "runtime/cpu/onednn_library.h"

#include <algorithm>

namespace dfc {
namespace {

class PackedMultiplier final : public PanelMultiplier {
 public:
  PackedMultiplier(ElementType type, const MatmulPlan& plan)
      : plan_(plan), type_(type), width_(byteWidth(type)),
        bytesOfA_(plan.packsA() ? rounded(static_cast<size_t>(plan.panelRows * plan.inner * width_)) : 0) {}

  /// False where oneDNN has no packed layout or kernel.
  bool make(uint32_t slots) {
    onednn::Module& module = onednnModule();
    for (int64_t index = 0; index < plan_.panels(); ++index) {
      const MatmulPanel panel = plan_.panel(index);
      const onednn::MatmulRequest product = request(panel);
      const auto makePacking = [&] {
        bytesOfB_ = std::max(bytesOfB_, rounded(module.packedBytes(product)));
        return module.make(onednn::PackRequest{product}, slots);
      };
      if (!products_.add({panel.rows, panel.columns}, [&] { return module.make(product, slots); }) ||
          !packings_.add({plan_.inner, panel.columns}, makePacking)) {
        return false;
      }
    }
    return true;
  }

  size_t scratchBytes() const override {
    return bytesOfA_ + bytesOfB_ + std::max(products_.scratchBytes(), packings_.scratchBytes());
  }
  bool isDense() const override { return true; }
  void multiply(uint32_t slot, const MatmulPanel& panel, const std::byte* a, const std::byte* b, std::byte* c,
                std::byte* scratch, SameAsBefore same) override {
    std::byte *const packedB = scratch, *const packedA = packedB + bytesOfB_,
                     *const rest = packedA + bytesOfA_;
    if (!same.columns) {
      packings_.run({plan_.inner, panel.columns}, slot, &b, packedB, rest, "matmul");
    }
    if (plan_.packsA()) { // panels go down the columns, so the rows are never those of the panel before
      const int64_t bytes = panel.rows * width_;
      copyRows(a, plan_.aStride * width_, packedA, bytes, bytes, plan_.inner);
    }
    const std::byte* const operands[2] = {plan_.packsA() ? packedA : a, packedB};
    products_.run({panel.rows, panel.columns}, slot, operands, c, rest, "matmul");
  }

 private:
  static size_t rounded(size_t bytes) { return (bytes + 63) / 64 * 64; }

  onednn::MatmulRequest request(const MatmulPanel& panel) const {
    return {.type = type_,
            .rows = panel.rows,
            .columns = panel.columns,
            .inner = plan_.inner,
            .aStride = plan_.packsA() ? panel.rows : plan_.aStride,
            .bStride = plan_.bStride,
            .cStride = panel.columns,
            .transposeA = plan_.transposeA,
            .transposeB = plan_.transposeB,
            .packedForRows = plan_.panelRows};
  }

  const MatmulPlan& plan_;
  ElementType type_;
  int64_t width_;
  size_t bytesOfA_, bytesOfB_ = 0; // of packed panels
  ShapedPrimitives products_, packings_;
};

} // namespace

std::unique_ptr<PanelMultiplier> makePackedMultiplier(ElementType type, const MatmulPlan& plan,
                                                      uint32_t slots) {
  auto made = std::make_unique<PackedMultiplier>(type, plan);
  return made->make(slots) ? std::move(made) : nullptr;
}

} // namespace dfc
