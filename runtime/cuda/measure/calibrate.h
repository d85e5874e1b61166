// Timing ops on a GPU: each alone, many times over in one CUDA graph, so that what is measured is what a step
// pays; and for products by cuBLASLt, which of its algorithms is the quickest.
#pragma once

#include "ir/machine/calibration.h"
#include "runtime/cuda/gpu.h"

namespace dfc::cuda {

/// A row an op, and one for the plain product of each fused one, where plans find the choice. The seconds are
/// those of one run among many that follow one another; the choice is that of the quickest algorithm, or the
/// known one. Operands are random. Throws MachineError, naming the op.
std::vector<CalibratedOp> calibrateOps(const Graph& graph, llvm::ArrayRef<OpId> ops, const Calibration& known,
                                       const Gpu& gpu);

} // namespace dfc::cuda
