// Panels for few threads. Wide ones are some 4 % quicker, but too few for many threads. As a result must not
// depend on the number of threads, they are taken only where oneDNN gives the same bits in both: that is
// tried out, with random operands, once for each shape. One panel tells it for all, as they are alike and
// what a product does with its terms does not depend on what these are.
#pragma once

#include "runtime/cpu/kernels/matmul/matmul_plan.h"

namespace dfc {

/// `plan`, or the same product in wider panels where at least four remain for each of `threads` threads.
/// Throws MachineError when oneDNN cannot be loaded.
MatmulPlan withWidePanels(const MatmulPlan& plan, ElementType type, uint32_t threads);

} // namespace dfc
