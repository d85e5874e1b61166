// PeerRead: a transfer between two GPUs that is not made, because its one reader reads the other GPU's memory
// itself. Here: which ones are allowed and worth it. What it does to the order of things is peer_reads.h's.
#pragma once

#include "ir/plan/executable_parts.h"

#include <llvm/ADT/STLExtras.h>

namespace dfc::cuda {

struct PeerRead {
  StepId transfer, reader;
  uint32_t operand = 0; ///< of the reader's op
  friend bool operator==(const PeerRead&, const PeerRead&) = default;
};

/// Whether kernels on `reader` reach the memory of `owner`.
using Reaches = llvm::function_ref<bool(DeviceId reader, DeviceId owner)>;

/// Values of so many bytes are read where they lie in any case: a copy of them costs what any copy costs,
/// almost all of it latency, and keeps the larger ones behind it waiting.
inline constexpr int64_t smallPeerRead = int64_t{64} << 10;

/// Allowed: the value is nobody's but one operand's of one elementwise (or fused) op on a compute queue,
/// whose kernel streams it, each element once. Worth it: the value is small, or, by the plan's predicted
/// times, the reader ends no later than after the copy. So copies that run under other work stay copies. In
/// the order of queues and their steps.
std::vector<PeerRead> choosePeerReads(const Executable& plan, Reaches reaches);

} // namespace dfc::cuda
