// PeerRead: a transfer between two GPUs is left out, and its one reader reads the other GPU's memory itself.
// This file chooses the reads that are allowed and pay off; peer_reads.h adapts the waits.
#pragma once

#include "compiler/lower/plan_stages.h"
#include "ir/plan/launch_plan.h"
#include "ir/plan/peer_reads.h"

#include <llvm/ADT/STLFunctionalExtras.h>

namespace dfc::cuda {

/// Whether kernels on `reader` reach the memory of `owner`.
using Reaches = llvm::function_ref<bool(DeviceId reader, DeviceId owner)>;

/// A read is allowed if the value is one operand of one elementwise (or fused) op on a compute queue and has
/// no other use, and if the op is one single-pass kernel that reads each element of the value once.
/// It pays off if the value is small or if, by the plan's predicted times, the reader ends no later than with
/// the copy; copies that overlap with other work therefore stay copies. In the order of queues and their
/// steps. `large`: whether values that are not small are read, too.
std::vector<PeerRead> choosePeerReads(const PlanStages& stages, Reaches reaches, bool large = true);

} // namespace dfc::cuda
