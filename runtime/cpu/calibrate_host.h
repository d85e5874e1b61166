// Timing the host's kernels, for the backends whose devices are played by the host's threads.
#pragma once

#include "ir/machine/calibration.h"

#include <llvm/ADT/ArrayRef.h>

namespace dfc {

/// A row for each op: the median of up to nine runs of its kernel, made as a session makes it for a device of
/// so many threads, on random operands. What the runs before have left in the caches is there, as it is
/// behind the op that makes an operand; but operands that a transfer brings come from memory, past the
/// caches. An op that takes long runs less often, at least once after the first. Throws MachineError when a
/// kernel's library cannot be opened or there is not enough memory.
std::vector<CalibratedOp> calibrateHost(const Graph& graph, llvm::ArrayRef<OpId> ops, uint32_t threads);

} // namespace dfc
