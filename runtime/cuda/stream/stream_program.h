// A queue's program, prepared for a stream of one GPU: launches for its computations, addresses for its
// copies.
//
// Independent small computations are merged into one launch (launches/merge.h), which is enqueued with the
// first command of their region: no wait falls inside a region, so that the order there is not observable. A
// reduction may be fused with its operand's producer in an earlier region of its queue region
// (launches/regions.h). A traced step launches each computation by itself instead, in the program's order, so
// that every op has a time of its own and a queue's spans follow one another. For the same reason it copies
// every transfer, where other steps leave some to kernels that read the peer's memory
// (launches/peer_reads.h).
#pragma once

#include "runtime/cuda/compute.h"
#include "runtime/cuda/gpu.h"
#include "runtime/cuda/library/kernel_library.h"
#include "runtime/cuda/memory.h"
#include "runtime/cuda/peers.h"
#include "runtime/cuda/stream/stream_command.h"

#include <vector>

namespace dfc::cuda {

/// The launches of a program's computations.
struct Computing {
  ComputeLaunches made;
  std::vector<Marks::Name> marks; ///< by launch; null where there are no marks
  std::vector<size_t> firstAt;    ///< by position, and one more: the first launch at that position or later
};

struct StreamProgram {
  QueueId queue;
  const Gpu* gpu = nullptr;
  std::vector<StreamCommand> commands;
  std::vector<Computation> computations;
  std::vector<Computation> planned; ///< the same without peer reads
  DeviceBuffer matmulWorkspace;
  Computing computing;
  std::optional<Computing> single; ///< every op by itself; prepared for the first traced step
  std::vector<PinnedBuffer> staging;

  const Computing& computingFor(bool traced) const { return traced ? *single : computing; }
};

/// What the sessions' GPUs share.
struct SharedParts {
  KernelLibrary* library = nullptr;
  const Peers* peers = nullptr;
  const Calibration* calibration = nullptr; ///< null for none
  HostPins* pins = nullptr;                 ///< pins the host arenas that take part in copies
  Marks* marks = nullptr;                   ///< null for none
  bool merge = true;                        ///< whether launches may be merged
};

/// `planned`: as `resolve` made it; `program`: the same with peer reads (launches/peer_programs.h).
/// Throws MachineError, naming op, queue and GPU.
StreamProgram prepareProgram(const Executable& plan, const Program& planned, const Program& program,
                             const Gpu& gpu, const SharedParts& shared);

/// Prepares `program.single` unless it is prepared already. Throws MachineError, naming op, queue and GPU.
void prepareSingle(const Executable& plan, StreamProgram& program, const SharedParts& shared);

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
