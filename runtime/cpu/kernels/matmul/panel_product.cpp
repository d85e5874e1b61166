#include "runtime/cpu/kernels/matmul/panel_product.h"

#include "runtime/cpu/kernels/matmul/packed_multiplier.h"
#include "runtime/cpu/kernels/matmul/packed_panels.h"
#include "runtime/cpu/kernels/scratch.h"

namespace dfc {

namespace {

size_t rounded(size_t bytes) { return (bytes + 63) / 64 * 64; }

} // namespace

bool isEmptyProduct(const ops::Matmul& op, OperandTypes operands, OperandTypes results) {
  const Shape& a = operands[0].shape;
  return results[0].shape.elements() == 0 || a[a.rank() - (op.transposeA ? 2 : 1)] == 0;
}

PanelProduct::PanelProduct(const ops::Matmul& op, OperandTypes operands, OperandTypes results,
                           ThreadPool& pool)
    : pool_(pool), plan_(op, operands, results), type_(results[0].element), width_(byteWidth(type_)) {
  const MatmulPlan plain = plan_;
  if (const std::optional<MatmulPlan> packed = packedPanels(plain, type_)) {
    dealOut(*packed);
    multiplier_ = makePackedMultiplier(type_, plan_, parts_);
  }
  if (multiplier_ == nullptr) {
    dealOut(plain);
    multiplier_ = makePanelMultiplier(type_, plan_, parts_);
  }
}

void PanelProduct::dealOut(const MatmulPlan& plan) {
  plan_ = plan;
  parts_ = partCount(pool_, plan.panels(), plan.cost());
}

std::unique_ptr<PanelProduct> PanelProduct::make(const ops::Matmul& op, OperandTypes operands,
                                                 OperandTypes results, ThreadPool& pool) {
  if (isEmptyProduct(op, operands, results) || results[0].element == ElementType::F16) {
    return nullptr;
  }
  auto product = std::make_unique<PanelProduct>(op, operands, results, pool);
  return product->multiplier_ ? std::move(product) : nullptr;
}

uint32_t PanelProduct::partsOf(const ops::Matmul& op, OperandTypes operands, OperandTypes results,
                               const ThreadPool& pool) {
  const MatmulPlan plan(op, operands, results);
  return partCount(pool, plan.panels(), plan.cost());
}

// The multiplier refers to the plan, so it goes back to the old plan with the old multiplier.
bool PanelProduct::hold(Held b) {
  const MatmulPlan plain = plan_;
  const std::optional<MatmulPlan> constant =
      b != Held::No ? constantPanels(plain, type_) : std::optional<MatmulPlan>();
  if (!constant) {
    return false;
  }
  dealOut(*constant);
  if (auto multiplier = makeConstantMultiplier(type_, plan_, parts_, b, pool_)) {
    multiplier_ = std::move(multiplier);
    return b == Held::Yes;
  }
  dealOut(plain);
  return false;
}

size_t PanelProduct::panelBytes() const {
  return multiplier_->isDense()
             ? static_cast<size_t>(plan_.panelRows * plan_.panelColumns * width_)
             : static_cast<size_t>(((plan_.panelRows - 1) * plan_.columns + plan_.panelColumns) * width_);
}

bool PanelProduct::makesApart() const { return multiplier_->isDense() && plan_.panelColumns < plan_.columns; }

int64_t PanelProduct::stride(const MatmulPanel& panel) const {
  return multiplier_->isDense() ? panel.columns : plan_.columns;
}

void PanelProduct::run(const std::byte* a, const std::byte* b, std::byte* c, size_t scratchBytes, Then then) {
  const bool apart = c == nullptr || makesApart();
  const size_t own = rounded(multiplier_->scratchBytes());
  multiplier_->begin(b);
  const size_t panelScratch = apart ? rounded(panelBytes()) : 0;
  pool_.run(parts_, [&](uint32_t part) {
    const TaskRange panels = tasksOfPart(plan_.panels(), parts_, part);
    std::byte* const scratch = threadScratch(own + panelScratch + scratchBytes);
    MatmulPanel before;
    for (int64_t index = panels.begin; index < panels.end; ++index) {
      const MatmulPanel panel = plan_.panel(index);
      const SameAsBefore same{before.aOffset == panel.aOffset && before.rows == panel.rows,
                              before.bOffset == panel.bOffset && before.columns == panel.columns};
      std::byte* const made = apart ? scratch + own : c + panel.cOffset * width_;
      multiplier_->multiply(part, panel, a + panel.aOffset * width_, b + panel.bOffset * width_, made,
                            scratch, same);
      then(panel, made, stride(panel), scratch + own + panelScratch);
      before = panel;
    }
  });
}

} // namespace dfc
