// A queue's program, prepared for a stream of one GPU: works for its computations, addresses for its copies.
#pragma once

#include "runtime/backend.h"
#include "runtime/cuda/gpu.h"
#include "runtime/cuda/kernel_library.h"
#include "runtime/cuda/memory.h"
#include "runtime/cuda/peers.h"
#include "runtime/cuda/work.h"

#include <vector>

namespace dfc::cuda {

/// One copy of bytes; between the round's host buffers and arenas, or between arenas. Peers without access to
/// one another go through `staging`.
struct Copy {
  Location from, to;
  std::byte* staging = nullptr;
};

struct StreamCommand {
  Command::Kind kind = Command::Kind::Nothing;
  StepId step;
  OpId op;
  llvm::SmallVector<WaitFor, 1> waits;
  std::unique_ptr<Work> work; ///< Compute; null where there is nothing to do
  Copy copy;                  ///< Copy, Transfer
  Marks::Name mark = nullptr; ///< null where there are no marks
};

struct StreamProgram {
  QueueId queue;
  const Gpu* gpu = nullptr;
  std::vector<StreamCommand> commands;
  DeviceBuffer matmulWorkspace, workspace;
  std::vector<PinnedBuffer> staging;
};

/// What the sessions' GPUs share.
struct SharedParts {
  KernelLibrary* library = nullptr;
  const Peers* peers = nullptr;
  const Calibration* calibration = nullptr; ///< null for none
  HostPins* pins = nullptr;                 ///< pins the host arenas that take part in copies
  Marks* marks = nullptr;                   ///< null for none
};

/// Throws MachineError, naming op, queue and GPU.
StreamProgram prepareProgram(const Executable& plan, const Program& program, const Gpu& gpu,
                             const SharedParts& shared);

/// The address of a place in an arena of this or another device that CUDA can reach; asserts that it can.
std::byte* deviceAddress(const Location& location);

/// "gpu0 compute 0, op 'h'", for messages.
std::string whereIs(const Executable& plan, QueueId queue, OpId op);

/// Runs `action`; a MachineError gets the place put before it.
template <class Action>
void located(const Executable& plan, QueueId queue, OpId op, const Action& action) {
  try {
    action();
  } catch (const MachineError& error) {
    throw MachineError(whereIs(plan, queue, op) + ": " + error.what());
  }
}

} // namespace dfc::cuda
