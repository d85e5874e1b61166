#include "runtime/cpu/kernels/matmul/panel_multiplier.h"

#include "runtime/cpu/kernels/matmul/block_matmul.h"
#include "runtime/cpu/kernels/matmul/copy_rows.h"
#include "runtime/cpu/kernels/shaped_primitives.h"
#include "runtime/cpu/onednn_library.h"

#include <algorithm>

namespace dfc {
namespace {

class BlockMultiplier final : public PanelMultiplier {
 public:
  BlockMultiplier(ElementType type, const MatmulPlan& plan) : type_(type), plan_(plan) {}
  size_t scratchBytes() const override { return blockMatmulScratch(type_); }
  void multiply(uint32_t, const MatmulPanel& panel, const std::byte* a, const std::byte* b, std::byte* c,
                std::byte* scratch, SameAsBefore) override {
    const BlockMatmul shape{panel.rows,    panel.columns, plan_.inner,      plan_.aStride,
                            plan_.bStride, plan_.columns, plan_.transposeA, plan_.transposeB};
    blockMatmul(type_, shape, a, b, c, scratch);
  }

 private:
  ElementType type_;
  const MatmulPlan& plan_;
};

// One primitive for whole panels and one for each shape of smaller last panels. The panel of a transposed a
// is packed first where the packed panel stays in the caches and is read more than once. Where c is dense,
// oneDNN's quicker kernels take a transposed matrix as a whole only; where it is not, packing pays once a row
// is as long as a page, as reads across pages miss the TLB. A panel of one column is not packed; it is the
// last of its rows, so no later panel relies on what it overwrites in the scratch.
class OnednnMultiplier final : public PanelMultiplier {
 public:
  /// Null where oneDNN has nothing for the type on this processor.
  static std::unique_ptr<PanelMultiplier> make(ElementType type, const MatmulPlan& plan, uint32_t slots) {
    auto made = std::make_unique<OnednnMultiplier>(type, plan);
    for (int64_t index = 0; index < plan.panelsOfOne(); ++index) {
      const MatmulPanel panel = plan.panel(index);
      if (!made->add(type, panel, slots)) {
        return nullptr;
      }
    }
    return made;
  }

  size_t scratchBytes() const override { return packedBytes_ + primitives_.scratchBytes(); }
  void multiply(uint32_t slot, const MatmulPanel& panel, const std::byte* a, const std::byte* b, std::byte* c,
                std::byte* scratch, SameAsBefore same) override {
    const size_t packedBytes = packs(panel) ? bytesOfA(panel) : 0;
    if (packedBytes > 0 && !same.rows) {
      const int64_t bytes = panel.rows * width_;
      copyRows(a, plan_.aStride * width_, scratch, bytes, bytes, plan_.inner);
    }
    const std::byte* operands[2] = {packedBytes > 0 ? scratch : a, b};
    primitives_.run({panel.rows, panel.columns}, slot, operands, c, scratch + packedBytes, "matmul");
  }

  OnednnMultiplier(ElementType type, const MatmulPlan& plan) : plan_(plan), width_(byteWidth(type)) {}

 private:
  bool packs(const MatmulPanel& panel) const {
    constexpr size_t mostBytes = 16 << 20;
    constexpr int64_t pageBytes = 4096;
    return plan_.transposeA && panel.rows < plan_.rows && panel.columns > 1 &&
           (panel.columns == plan_.columns || plan_.aStride * width_ >= pageBytes) &&
           bytesOfA(panel) <= mostBytes;
  }

  /// A multiple of 64, which aligns the scratch behind it.
  size_t bytesOfA(const MatmulPanel& panel) const {
    return (static_cast<size_t>(panel.rows * plan_.inner * width_) + 63) / 64 * 64;
  }

  bool add(ElementType type, const MatmulPanel& panel, uint32_t slots) {
    const int64_t aStride = packs(panel) ? panel.rows : plan_.aStride;
    packedBytes_ = std::max(packedBytes_, packs(panel) ? bytesOfA(panel) : 0);
    return primitives_.add({panel.rows, panel.columns}, [&] {
      return onednnModule().make(onednn::MatmulRequest{type, panel.rows, panel.columns, plan_.inner, aStride,
                                                       plan_.bStride, plan_.columns, plan_.transposeA,
                                                       plan_.transposeB},
                                 slots);
    });
  }

  const MatmulPlan& plan_;
  int64_t width_;
  ShapedPrimitives primitives_;
  size_t packedBytes_ = 0;
};

} // namespace

std::unique_ptr<PanelMultiplier> makePanelMultiplier(ElementType type, const MatmulPlan& plan,
                                                     uint32_t slots) {
  if (type == ElementType::F32 || type == ElementType::BF16) {
    return OnednnMultiplier::make(type, plan, slots);
  }
  return std::make_unique<BlockMultiplier>(type, plan);
}

} // namespace dfc
