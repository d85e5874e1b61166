// Kernel of fusedMatmul: the product a panel at a time, each followed by the epilogue as a fused body over it
// while it is in the caches of the thread that made it; or, where the product is made in another type than
// its own, or shared by fewer threads than the epilogue is worth, the one and then the other. The result has
// the bits of the two ops apart. The product lies in the result's buffer; where its elements are of another
// type, or where the epilogue reads an operand from there (the update of a parameter in place), one panel at
// a time in memory of the thread that makes it, or, where panels are large or it is not made by panels, in
// memory of the calling thread.
#pragma once

#include "runtime/cpu/kernels/kernel.h"

namespace dfc {

std::unique_ptr<CpuKernel> makeFusedMatmulKernel(const ops::FusedMatmul& op, OperandTypes operands,
                                                 OperandTypes results, ThreadPool& pool);

} // namespace dfc
