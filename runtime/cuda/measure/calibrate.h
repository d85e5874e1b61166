// Calibration of a GPU: times each op alone, repeated in one CUDA graph as in a step, and finds the quickest
// algorithm of each product of cuBLASLt.
#pragma once

#include "ir/plan/op_lowering.h"
#include "runtime/cuda/gpu.h"

#include <llvm/ADT/ArrayRef.h>

namespace dfc::cuda {

/// One row per op, and one for the plain product of each fused op, in which plans look up the choice. The
/// seconds are those of one of many consecutive runs; the choice is the quickest algorithm, or the known one.
/// Operands are random. Throws MachineError, naming the op.
/// Ops without launches have none. `device`: the GPU as a machine file describes it.
std::vector<CalibratedOp> calibrateOps(const Graph& graph, llvm::ArrayRef<OpId> ops, const Calibration& known,
                                       const Gpu& gpu, const DeviceRow& device, const OpLowering& lowering);

} // namespace dfc::cuda
