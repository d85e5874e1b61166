// Panels of packed operands, for oneDNN's quickest kernels (brgemm), which ask for b in a blocked layout. A
// thread packs a panel's columns of b once for all of its panels down these columns, and the panel's rows of
// a transposed a where the panel has not all of them. These kernels write panels of dense rows. A constant b
// is packed as a whole, before its panels.
#pragma once

#include "runtime/cpu/kernels/matmul/panel_multiplier.h"

namespace dfc {

/// For a plan of `packedPanels`, to which it refers, and `slots` callers at the same time. Null where oneDNN
/// has no such kernel for the type on this processor. Throws MachineError when oneDNN cannot be loaded.
std::unique_ptr<PanelMultiplier> makePackedMultiplier(ElementType type, const MatmulPlan& plan,
                                                      uint32_t slots);

/// For a plan of `constantPanels` and a b that is a constant: `begin` packs all of b, once where b is held.
/// Null also where the packed copy would be much larger than b. `pool` outlives it.
std::unique_ptr<PanelMultiplier> makeConstantMultiplier(ElementType type, const MatmulPlan& plan,
                                                        uint32_t slots, Held b, ThreadPool& pool);

} // namespace dfc
