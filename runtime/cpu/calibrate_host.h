// Calibration of the host: times of its kernels, for the backends that compute with threads of the host.
#pragma once

#include "ir/graph/custom_function.h"
#include "ir/machine/calibration.h"
#include "runtime/cpu/kernels/kernel.h"

#include <llvm/ADT/ArrayRef.h>

#include <memory>

namespace dfc {

/// A row for each op: the median of up to nine runs of its kernel on random operands, prepared as a session
/// prepares it for a device of so many threads: kernels keep what they make of operands that no step changes,
/// such as weights that an evaluation only reads, and of a parameter's packed copy only the use is timed.
/// Caches: operands stay in the caches from run to run, as they do after the op that produces them; operands
/// that a transfer brings are read from memory. Long ops run less often, at least once after the first run.
/// Throws MachineError when a kernel's library cannot be opened or memory does not suffice.
std::vector<CalibratedOp> calibrateHost(const Graph& graph, llvm::ArrayRef<OpId> ops, uint32_t threads);

/// The row of one op and its kernel, whose operands at the places that `shared` has come from other devices.
CalibratedOp calibrateKernel(const Graph& graph, OpId op, const SharedBuffers& shared,
                             std::unique_ptr<CpuKernel> kernel);

/// The same of custom ops whose functions are among `functions`, called on one thread. An op whose function
/// fails on random operands has no row.
std::vector<CalibratedOp> calibrateCustom(const Graph& graph, llvm::ArrayRef<OpId> ops,
                                          const CustomFunctions& functions);

} // namespace dfc
