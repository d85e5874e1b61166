#include "runtime/cpu/kernels/matmul/matmul.h"

#include "runtime/cpu/kernels/matmul/block_matmul.h"
#include "runtime/cpu/kernels/matmul/matmul_plan.h"
#include "runtime/cpu/kernels/scratch.h"
#include "runtime/cpu/kernels/widened.h"
#include "runtime/cpu/kernels/zero_kernel.h"
#include "runtime/cpu/onednn_library.h"
#include "runtime/errors.h"

#include <algorithm>

namespace dfc {
namespace {

// One panel's product; `slot` tells callers that run at the same time apart.
class PanelMultiplier {
 public:
  virtual ~PanelMultiplier() = default;
  virtual void multiply(uint32_t slot, const MatmulPanel& panel, const std::byte* a, const std::byte* b,
                        std::byte* c) = 0;
};

class BlockMultiplier final : public PanelMultiplier {
 public:
  BlockMultiplier(ElementType type, const MatmulPlan& plan) : type_(type), plan_(plan) {}
  void multiply(uint32_t, const MatmulPanel& panel, const std::byte* a, const std::byte* b,
                std::byte* c) override {
    const BlockMatmul shape{panel.rows,    panel.columns, plan_.inner,      plan_.aStride,
                            plan_.bStride, plan_.columns, plan_.transposeA, plan_.transposeB};
    blockMatmul(type_, shape, a, b, c, threadScratch(blockMatmulScratch(type_)));
  }

 private:
  ElementType type_;
  const MatmulPlan& plan_;
};

// A primitive for whole panels and one for the smaller last panel. oneDNN's quicker kernels take a transposed
// matrix as a whole only, so a panel of one is packed first, as long as that stays in the caches.
class OnednnMultiplier final : public PanelMultiplier {
 public:
  /// Null where oneDNN has nothing for the type on this processor.
  static std::unique_ptr<PanelMultiplier> make(ElementType type, const MatmulPlan& plan, uint32_t slots) {
    auto made = std::make_unique<OnednnMultiplier>(type, plan);
    for (int64_t index = 0; index < plan.panels(); ++index) {
      const MatmulPanel panel = plan.panel(index);
      if (made->find(panel) == nullptr && !made->add(type, plan, panel, slots)) {
        return nullptr;
      }
      if (made->shapes_.size() == 2) {
        break; // a plan has no third shape
      }
    }
    return made;
  }

  void multiply(uint32_t slot, const MatmulPanel& panel, const std::byte* a, const std::byte* b,
                std::byte* c) override {
    onednn::Primitive* primitive = find(panel);
    const size_t packedBytes = packs(panel) ? bytesOfA(panel) : 0;
    std::byte* const scratch = threadScratch(packedBytes + primitive->scratchBytes());
    if (packedBytes > 0) {
      pack(panel, a, scratch);
    }
    const std::byte* operands[2] = {packedBytes > 0 ? scratch : a, b};
    if (!primitive->run(slot, operands, c, scratch + packedBytes)) {
      throw MachineError("oneDNN failed in a matmul; its own log (ONEDNN_VERBOSE=1) may say why");
    }
  }

  OnednnMultiplier(ElementType type, const MatmulPlan& plan) : plan_(plan), width_(byteWidth(type)) {}

 private:
  bool packs(const MatmulPanel& panel) const {
    constexpr size_t mostBytes = 16 << 20;
    return plan_.transposeA && panel.rows < plan_.rows && bytesOfA(panel) <= mostBytes;
  }

  /// A multiple of 64, so that what lies behind is aligned.
  size_t bytesOfA(const MatmulPanel& panel) const {
    return (static_cast<size_t>(panel.rows * plan_.inner * width_) + 63) / 64 * 64;
  }

  void pack(const MatmulPanel& panel, const std::byte* from, std::byte* to) const {
    const auto bytes = static_cast<size_t>(panel.rows * width_);
    for (int64_t k = 0; k < plan_.inner; ++k) {
      std::memcpy(to, from, bytes);
      from += plan_.aStride * width_;
      to += bytes;
    }
  }

  struct Shaped {
    int64_t rows, columns;
    std::unique_ptr<onednn::Primitive> primitive;
  };

  onednn::Primitive* find(const MatmulPanel& panel) const {
    for (const Shaped& shaped : shapes_) {
      if (shaped.rows == panel.rows && shaped.columns == panel.columns) {
        return shaped.primitive.get();
      }
    }
    return nullptr;
  }

  bool add(ElementType type, const MatmulPlan& plan, const MatmulPanel& panel, uint32_t slots) {
    const int64_t aStride = packs(panel) ? panel.rows : plan.aStride;
    const onednn::MatmulRequest request{type,         panel.rows,   panel.columns,   plan.inner,     aStride,
                                        plan.bStride, plan.columns, plan.transposeA, plan.transposeB};
    auto primitive = onednnModule().matmul(request, slots);
    const bool made = primitive != nullptr;
    shapes_.push_back({panel.rows, panel.columns, std::move(primitive)});
    return made;
  }

  const MatmulPlan& plan_;
  int64_t width_;
  std::vector<Shaped> shapes_;
};

class MatmulKernel final : public CpuKernel {
 public:
  MatmulKernel(std::unique_ptr<MatmulPlan> plan, ElementType type, ThreadPool& pool, uint32_t parts,
               std::unique_ptr<PanelMultiplier> multiplier)
      : pool_(pool), plan_(std::move(plan)), multiplier_(std::move(multiplier)), width_(byteWidth(type)),
        parts_(parts) {}

  void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) override {
    pool_.run(parts_, [&](uint32_t part) {
      const UnitRange panels = unitsOfPart(plan_->panels(), parts_, part);
      for (int64_t index = panels.begin; index < panels.end; ++index) {
        const MatmulPanel panel = plan_->panel(index);
        multiplier_->multiply(part, panel, operands[0] + panel.aOffset * width_,
                              operands[1] + panel.bOffset * width_, results[0] + panel.cOffset * width_);
      }
    });
  }

 private:
  ThreadPool& pool_;
  std::unique_ptr<MatmulPlan> plan_; // the multiplier refers to it
  std::unique_ptr<PanelMultiplier> multiplier_;
  int64_t width_;
  uint32_t parts_;
};

std::unique_ptr<CpuKernel> makeDirect(const ops::Matmul& op, ElementType type, OperandTypes operands,
                                      OperandTypes results, ThreadPool& pool) {
  auto plan = std::make_unique<MatmulPlan>(op, operands, results);
  const uint32_t parts = partCount(pool, plan->panels(), plan->cost());
  std::unique_ptr<PanelMultiplier> multiplier;
  if (type == ElementType::F32 || type == ElementType::BF16) {
    multiplier = OnednnMultiplier::make(type, *plan, parts);
  } else {
    multiplier = std::make_unique<BlockMultiplier>(type, *plan);
  }
  return multiplier
             ? std::make_unique<MatmulKernel>(std::move(plan), type, pool, parts, std::move(multiplier))
             : nullptr;
}

} // namespace

std::unique_ptr<CpuKernel> makeMatmulKernel(const ops::Matmul& op, OperandTypes operands,
                                            OperandTypes results, ThreadPool& pool) {
  const ElementType type = results[0].element;
  const Shape& a = operands[0].shape;
  if (results[0].shape.elements() == 0 || a[a.rank() - (op.transposeA ? 2 : 1)] == 0) {
    return std::make_unique<ZeroKernel>(results[0].bytes());
  }
  if (type != ElementType::F16) {
    auto direct = makeDirect(op, type, operands, results, pool);
    if (direct || type != ElementType::BF16) {
      return direct ? std::move(direct)
                    : throw MachineError(
                          "oneDNN has no f32 matmul on this processor; install another build of it");
    }
  }
  return makeWidenedKernel(
      makeDirect(op, ElementType::F32, widenedTypes(operands), widenedTypes(results), pool), operands,
      results, pool);
}

} // namespace dfc
