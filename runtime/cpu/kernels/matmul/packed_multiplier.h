// Panels of packed operands, for oneDNN's quickest kernels (brgemm), which ask for b in a blocked layout. A
// thread packs a panel's columns of b once for all of its panels down these columns, and the panel's rows of
// a transposed a where the panel has not all of them. These kernels write panels of dense rows.
#pragma once

#include "runtime/cpu/kernels/matmul/panel_multiplier.h"

namespace dfc {

/// For a plan of `packedPanels`, to which it refers, and `slots` callers at the same time. Null where oneDNN
/// has no such kernel for the type on this processor. Throws MachineError when oneDNN cannot be loaded.
std::unique_ptr<PanelMultiplier> makePackedMultiplier(ElementType type, const MatmulPlan& plan,
                                                      uint32_t slots);

} // namespace dfc
