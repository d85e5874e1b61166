// The programs of a session's GPUs with peer reads in place of transfers.
#pragma once

#include "runtime/backend.h"
#include "runtime/cuda/launches/peer_reads.h"

namespace dfc::cuda {

/// `programs`: of the queues of all GPUs that read or are read, as `resolve` made them for `plan` and
/// `board`. The result has the same commands at the same positions: a replaced transfer is Nothing, and its
/// reader has the source as operand. A command publishes its end where one of the new waits needs it.
std::vector<Program> withPeerReads(const Executable& plan, const PeerReads& lowered,
                                   std::vector<Program> programs, const ProgressBoard& board);

} // namespace dfc::cuda
