// PanelProduct: a product panel by panel, so that an epilogue finds each panel in the caches of the thread
// that computed it.
#pragma once

#include "runtime/cpu/kernels/matmul/panel_multiplier.h"

#include <llvm/ADT/STLFunctionalExtras.h>

namespace dfc {

/// Whether the product has no elements, or its elements have no terms.
bool isEmptyProduct(const ops::Matmul& op, OperandTypes operands, OperandTypes results);

class PanelProduct {
 public:
  /// Null where no kernel multiplies the type without widening (f16; bf16 on processors without it), and
  /// where the product has no elements or no terms.
  static std::unique_ptr<PanelProduct> make(const ops::Matmul& op, OperandTypes operands,
                                            OperandTypes results, ThreadPool& pool);

  /// As CpuKernel's, of the right operand: whether it is kept packed.
  bool hold(Held b);
  void heldChanged() { multiplier_->forget(); }

  /// Parts that the product would be dealt out in, were its operands not packed.
  static uint32_t partsOf(const ops::Matmul& op, OperandTypes operands, OperandTypes results,
                          const ThreadPool& pool);

  /// `made`: the panel's first element; its rows begin `stride` elements apart.
  using Then = llvm::function_ref<void(const MatmulPanel& panel, const std::byte* made, int64_t stride,
                                       std::byte* scratch)>;
  /// `then` is called for each computed panel, by the thread that computed it, with `scratchBytes` of
  /// scratch, aligned to 64; it must not call threadScratch(), which holds packed operands for the next
  /// panel. `c`: null where only `then` needs the panels; each thread then computes its panels in a buffer of
  /// panelBytes(). The same holds where makesApart() is true, and `then` has to fill c.
  void run(const std::byte* a, const std::byte* b, std::byte* c, size_t scratchBytes, Then then);

  const MatmulPlan& plan() const { return plan_; }
  /// Bytes from the first element of the largest panel to behind its last.
  size_t panelBytes() const;
  /// Whether panels are computed in such a buffer even if there is a c.
  bool makesApart() const;

  PanelProduct(const ops::Matmul& op, OperandTypes operands, OperandTypes results, ThreadPool& pool);

 private:
  void dealOut(const MatmulPlan& plan);
  int64_t stride(const MatmulPanel& panel) const;

  ThreadPool& pool_;
  MatmulPlan plan_;
  ElementType type_;
  int64_t width_; ///< bytes of an element
  uint32_t parts_ = 0;
  std::unique_ptr<PanelMultiplier> multiplier_; // refers to the plan
};

} // namespace dfc
