// What makes one panel of a product: oneDNN for f32 and bf16, blocks of our own for f64 and integers.
#pragma once

#include "runtime/cpu/kernels/matmul/matmul_plan.h"

namespace dfc {

/// What a panel shares with the one that the same caller made before it, in scratch that nobody has touched
/// since: what was packed of it is still there.
struct SameAsBefore {
  bool rows = false, columns = false;
};

class PanelMultiplier {
 public:
  virtual ~PanelMultiplier() = default;
  /// Of one caller.
  virtual size_t scratchBytes() const = 0;
  /// Whether the rows of a panel follow one another; else they lie as far apart as c's.
  virtual bool isDense() const { return false; }
  /// The panel from where its parts of a and b begin to where its part of c does. `slot` tells callers that
  /// run at the same time apart.
  virtual void multiply(uint32_t slot, const MatmulPanel& panel, const std::byte* a, const std::byte* b,
                        std::byte* c, std::byte* scratch, SameAsBefore same) = 0;
};

/// For `slots` callers at the same time; refers to the plan. Null where oneDNN has nothing for the type on
/// this processor. Throws MachineError when oneDNN cannot be loaded.
std::unique_ptr<PanelMultiplier> makePanelMultiplier(ElementType type, const MatmulPlan& plan,
                                                     uint32_t slots);

} // namespace dfc
