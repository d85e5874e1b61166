// What makes one panel of a product: oneDNN for f32 and bf16, blocks of our own for f64 and integers.
#pragma once

#include "runtime/cpu/kernels/matmul/matmul_plan.h"

namespace dfc {

class PanelMultiplier {
 public:
  virtual ~PanelMultiplier() = default;
  /// Of one caller.
  virtual size_t scratchBytes() const = 0;
  /// The panel from where its parts of a and b begin to where its part of c does. `slot` tells callers that
  /// run at the same time apart. `sameA`: `a` and the panel's rows are those of this caller's call
  /// before, and nobody has touched `scratch` since: what was packed of them is still there.
  virtual void multiply(uint32_t slot, const MatmulPanel& panel, const std::byte* a, const std::byte* b,
                        std::byte* c, std::byte* scratch, bool sameA) = 0;
};

/// For `slots` callers at the same time; refers to the plan. Null where oneDNN has nothing for the type on
/// this processor. Throws MachineError when oneDNN cannot be loaded.
std::unique_ptr<PanelMultiplier> makePanelMultiplier(ElementType type, const MatmulPlan& plan,
                                                     uint32_t slots);

} // namespace dfc
