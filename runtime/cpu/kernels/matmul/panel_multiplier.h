// PanelMultiplier: computes one panel of a product, by oneDNN for f32 and bf16, by our own blocks for f64 and
// integers.
#pragma once

#include "runtime/cpu/kernels/matmul/matmul_plan.h"

namespace dfc {

/// What a panel shares with the previous panel of the same caller, whose packed operands are still in the
/// scratch.
struct SameAsBefore {
  bool rows = false, columns = false;
};

class PanelMultiplier {
 public:
  virtual ~PanelMultiplier() = default;
  /// Of one caller.
  virtual size_t scratchBytes() const = 0;
  /// Whether the rows of a panel are contiguous; else they have the stride of c.
  virtual bool isDense() const { return false; }
  /// Before the panels of a run, by one caller: `b` is the whole right operand.
  virtual void begin(const std::byte* /*b*/) {}
  /// The next `begin` may find other bytes in an operand that is kept packed.
  virtual void forget() {}
  /// `a`, `b`, `c`: the first elements of the panel's operands and of its result. Callers that run at the
  /// same time have different slots.
  virtual void multiply(uint32_t slot, const MatmulPanel& panel, const std::byte* a, const std::byte* b,
                        std::byte* c, std::byte* scratch, SameAsBefore same) = 0;
};

/// For `slots` callers at the same time; refers to the plan. Null where oneDNN has nothing for the type on
/// this processor. Throws MachineError when oneDNN cannot be loaded.
std::unique_ptr<PanelMultiplier> makePanelMultiplier(ElementType type, const MatmulPlan& plan,
                                                     uint32_t slots);

} // namespace dfc
