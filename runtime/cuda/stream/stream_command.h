// StreamCommand: a command of a queue's program as it is enqueued on a stream, and the copy that it may be.
// Plain data without CUDA's types.
#pragma once

#include "runtime/backend.h"

namespace dfc::cuda {

/// One copy of bytes, between the step's host buffers and arenas or between arenas. Between GPUs without peer
/// access it goes through `staging`.
struct Copy {
  Location from, to;
  std::byte* staging = nullptr;
};

struct StreamCommand {
  Command::Kind kind = Command::Kind::Nothing;
  StepId step;
  OpId op;
  llvm::SmallVector<WaitFor, 1> waits;
  Copy copy;                  ///< Copy, Transfer
  Marks::Name mark = nullptr; ///< of a copy; null where there are no marks

  /// Whether it is enqueued as a copy. A copy without bytes is not: no node then separates the waits before
  /// it from the launch after it.
  bool copies() const {
    return (kind == Command::Kind::Copy || kind == Command::Kind::Transfer) && copy.from.bytes > 0;
  }
};

} // namespace dfc::cuda
