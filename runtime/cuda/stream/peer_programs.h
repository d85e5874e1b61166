// The programs of a session's GPUs with peer reads in place of transfers.
#pragma once

#include "ir/plan/executable_parts.h"
#include "runtime/backend.h"

namespace dfc::cuda {

/// `programs`: of the queues of all GPUs that read or are read, as `resolve` made them for `plan` and
/// `board`. The result has the same commands at the same positions: a replaced transfer is Nothing, and its
/// reader has the source as operand. A command publishes its end where one of the new waits needs it.
std::vector<Program> withPeerReads(const Executable& plan, std::vector<Program> programs,
                                   const ProgressBoard& board);

} // namespace dfc::cuda
