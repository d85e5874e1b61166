// How a product is cut whose operands are packed: few threads make large panels, for which less is packed and
// asked for anew, and many need small ones. As a result must not depend on the number of threads, large ones
// are taken only where oneDNN gives the same bits in both: that is tried out, with random operands, once for
// each shape. One panel of each size tells it for all, as what a product does with its terms does not depend
// on what these are.
#pragma once

#include "runtime/cpu/kernels/matmul/matmul_plan.h"

namespace dfc {

/// `plan` cut for makePackedMultiplier and so many threads. Nothing, whatever their number, where packing
/// takes longer than it saves or oneDNN has no packed layout for it. Throws MachineError when oneDNN cannot
/// be loaded.
std::optional<MatmulPlan> packedPanels(const MatmulPlan& plan, ElementType type, uint32_t threads);

} // namespace dfc
