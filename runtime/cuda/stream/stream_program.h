// A queue's program, prepared for a stream of one GPU: the plan's launches in the places of their steps,
// addresses for its copies. Traced steps run the same.
#pragma once

#include "runtime/cuda/compute.h"
#include "runtime/cuda/gpu.h"
#include "runtime/cuda/library/kernel_library.h"
#include "runtime/cuda/memory.h"
#include "runtime/cuda/peers.h"
#include "runtime/cuda/stream/stream_command.h"

#include <vector>

namespace dfc::cuda {

struct StreamProgram {
  QueueId queue;
  const Gpu* gpu = nullptr;
  std::vector<StreamCommand> commands;
  ComputeLaunches computing;
  std::vector<Marks::Name> marks; ///< by launch; null where there are no marks
  std::vector<size_t> firstAt;    ///< by position, and one more: the first launch at that position or later
  std::vector<PinnedBuffer> staging;
};

/// What the sessions' GPUs share.
struct SharedParts {
  KernelLibrary* library = nullptr;
  const Peers* peers = nullptr;
  HostPins* pins = nullptr;               ///< pins the host arenas that take part in copies
  Marks* marks = nullptr;                 ///< null for none
  SideTable<DeviceId, std::byte*> arenas; ///< base addresses of the GPUs' arenas; else null
};

/// `program`: with the plan's peer reads (stream/peer_programs.h). Throws MachineError, naming op, queue and
/// GPU.
StreamProgram prepareProgram(const Executable& plan, const Program& program, const Gpu& gpu,
                             const SharedParts& shared);

/// The address of a location in an arena that CUDA can access; asserts that it can.
std::byte* deviceAddress(const Location& location);

/// "gpu0 compute 0, op 'h'", for messages.
std::string whereIs(const Executable& plan, QueueId queue, OpId op);

/// Runs `action`; a MachineError gets queue and op as a prefix.
template <class Action>
void located(const Executable& plan, QueueId queue, OpId op, const Action& action) {
  try {
    action();
  } catch (const MachineError& error) {
    throw MachineError(whereIs(plan, queue, op) + ": " + error.what());
  }
}

} // namespace dfc::cuda
