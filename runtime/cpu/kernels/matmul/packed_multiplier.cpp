#include "runtime/cpu/kernels/matmul/packed_multiplier.h"

#include "runtime/cpu/kernels/matmul/copy_rows.h"
#include "runtime/cpu/kernels/packed_operand.h"
#include "runtime/cpu/kernels/shaped_primitives.h"
#include "runtime/cpu/onednn_library.h"

#include <llvm/ADT/DenseMap.h>

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
    for (int64_t index = 0; index < plan_.panelsOfOne(); ++index) {
      const MatmulPanel panel = plan_.panel(index);
      if (!products_.add({panel.rows, panel.columns},
                         [&] { return onednnModule().make(request(panel), slots); })) {
        return false;
      }
    }
    return true;
  }

  /// Packs b panel by panel, as they come. False where oneDNN has no packed layout.
  bool packPanels(uint32_t slots) {
    for (int64_t index = 0; index < plan_.panelsOfOne(); ++index) {
      const MatmulPanel panel = plan_.panel(index);
      const auto makePacking = [&] {
        bytesOfB_ = std::max(bytesOfB_, rounded(onednnModule().packedBytes(request(panel))));
        return onednnModule().make(onednn::PackRequest{request(panel)}, slots);
      };
      if (!packings_.add({plan_.inner, panel.columns}, makePacking)) {
        return false;
      }
    }
    return true;
  }

  /// Packs b as a whole. False where oneDNN has no packed layout, or one that takes much more memory.
  bool packAll(bool isHeld, ThreadPool& pool) {
    std::vector<PackedOperand::Piece> pieces;
    int64_t elements = 0;
    for (int64_t index = 0; index < plan_.panels(); ++index) {
      const MatmulPanel panel = plan_.panel(index);
      if (pieces_.try_emplace(panel.bOffset, pieces.size()).second) {
        pieces.push_back({{plan_.inner, panel.columns}, request(panel), panel.bOffset * width_});
        elements += plan_.inner * panel.columns;
      }
    }
    isHeld_ = isHeld;
    all_ = PackedOperand::make(std::move(pieces), pool);
    return all_ != nullptr && all_->bytes() <= static_cast<size_t>(2 * elements * width_);
  }

  void begin(const std::byte* b) override {
    if (all_ != nullptr) {
      if (!isHeld_) {
        all_->forget();
      }
      all_->pack(b);
    }
  }
  void forget() override { all_->forget(); }

  size_t scratchBytes() const override {
    return bytesOfA_ + bytesOfB_ + std::max(products_.scratchBytes(), packings_.scratchBytes());
  }
  bool isDense() const override { return true; }
  void multiply(uint32_t slot, const MatmulPanel& panel, const std::byte* a, const std::byte* b, std::byte* c,
                std::byte* scratch, SameAsBefore same) override {
    std::byte *const packedB = scratch, *const packedA = packedB + bytesOfB_,
                     *const rest = packedA + bytesOfA_;
    const std::byte* const ready = all_ != nullptr ? all_->piece(pieces_.lookup(panel.bOffset)) : packedB;
    if (all_ == nullptr && !same.columns) {
      packings_.run({plan_.inner, panel.columns}, slot, &b, packedB, rest, "matmul");
    }
    if (plan_.packsA()) { // panels go down the columns, so the rows are never those of the panel before
      const int64_t bytes = panel.rows * width_;
      copyRows(a, plan_.aStride * width_, packedA, bytes, bytes, plan_.inner);
    }
    const std::byte* const operands[2] = {plan_.packsA() ? packedA : a, ready};
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
  std::unique_ptr<PackedOperand> all_;     // of a constant b
  llvm::DenseMap<int64_t, size_t> pieces_; // of it, by the offset of their panels in b
  bool isHeld_ = false;
};

} // namespace

std::unique_ptr<PanelMultiplier> makePackedMultiplier(ElementType type, const MatmulPlan& plan,
                                                      uint32_t slots) {
  auto made = std::make_unique<PackedMultiplier>(type, plan);
  return made->make(slots) && made->packPanels(slots) ? std::move(made) : nullptr;
}

std::unique_ptr<PanelMultiplier> makeConstantMultiplier(ElementType type, const MatmulPlan& plan,
                                                        uint32_t slots, Held b, ThreadPool& pool) {
  auto made = std::make_unique<PackedMultiplier>(type, plan);
  return made->make(slots) && made->packAll(b == Held::Yes, pool) ? std::move(made) : nullptr;
}

} // namespace dfc
