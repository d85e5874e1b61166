// Kernel of fusedMatmul: each panel of the product is followed by the epilogue, as a fused body over the
// panel, while it is in the caches of its thread. Where the product is computed in another type than its own,
// or has fewer parts than the epilogue, the two run one after the other. The result has the bits of the two
// ops apart.
//
// Memory of the product: the result's buffer. Where the element types differ, or where the epilogue reads an
// operand from that buffer (the update of a parameter in place), scratch of the thread, a panel at a time;
// for large panels, and for products without panels, scratch of the calling thread.
#pragma once

#include "runtime/cpu/kernels/kernel.h"

namespace dfc {

std::unique_ptr<CpuKernel> makeFusedMatmulKernel(const ops::FusedMatmul& op, OperandTypes operands,
                                                 OperandTypes results, ThreadPool& pool);

} // namespace dfc
