// A command of a queue's program, as a stream carries it out, and the copy that it may be. Plain data, of
// which CUDA need know nothing.
#pragma once

#include "runtime/backend.h"

namespace dfc::cuda {

/// One copy of bytes; between the round's host buffers and arenas, or between arenas. Peers without access to
/// one another go through `staging`.
struct Copy {
  Location from, to;
  std::byte* staging = nullptr;
};

struct StreamCommand {
  Command::Kind kind = Command::Kind::Nothing; ///< as the plan has it
  StepId step;
  OpId op;
  llvm::SmallVector<WaitFor, 1> waits, plannedWaits; ///< of rounds that read from peers, and of traced ones
  bool readByPeer = false;                           ///< a transfer that is made in traced rounds only
  Copy copy;                                         ///< Copy, Transfer
  Marks::Name mark = nullptr; ///< of what is not Compute; null where there are no marks

  llvm::ArrayRef<WaitFor> waitsOf(bool traced) const { return traced ? plannedWaits : waits; }
  /// Whether it is enqueued as a copy. Without bytes it is not: nothing of it comes between what its stream
  /// waited for and what follows it.
  bool copies(bool traced) const {
    const bool made =
        kind == Command::Kind::Copy || (kind == Command::Kind::Transfer && (traced || !readByPeer));
    return made && copy.from.bytes > 0;
  }
};

} // namespace dfc::cuda
