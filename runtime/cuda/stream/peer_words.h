// PeerWords: progress words in GPU memory, by which the computing queue of one GPU waits for commands of
// another's. A queue's word lies in the memory of each GPU that waits for it, so that waiting reads no other
// memory; the queue's own GPU writes it, through peer access. Kernels of one block write and wait
// (Signals::exchange).
//
// Measured on H200s (CUDA 13.0), kernels on all GPUs behind kernels on all others, in one CUDA graph: with
// two GPUs an edge of the graph takes 2 us and a word 2.5; with four an edge takes 15 to 20, a word 3.
#pragma once

#include "runtime/cuda/stream/signals.h"
#include "runtime/cuda/stream/stream_program.h"

namespace dfc::cuda {

class PeerWords {
 public:
  /// No words: queues wait for one another's events.
  PeerWords() = default;
  /// Words of all `programs` on all of their GPUs. Throws MachineError.
  explicit PeerWords(const std::vector<StreamProgram>& programs);

  bool used() const { return !buffers_.empty(); }
  /// The number of steps that ended, in the memory of this GPU.
  uint64_t* counterOf(int ordinal) const { return wordOf(ordinal, 0); }
  /// Writes the number of steps into every GPU's counter.
  cudaError_t setStepCount(uint64_t steps) const;
  /// What a GPU does so that its queue waits for the end of another program's command.
  DeviceWait waitFor(int ordinal, size_t program, size_t position) const;
  /// What the program's GPU writes at the end of that command for a GPU that waits.
  DevicePublication endOf(size_t program, size_t position, int ordinal) const;
  /// Writes to the counters of the GPUs at the end of a step, without the GPU that ends it.
  std::vector<DevicePublication> stepEnds(int endingOrdinal) const;

 private:
  uint64_t* wordOf(int ordinal, size_t index) const;

  std::vector<uint64_t> commands_; ///< by program: how many
  std::vector<std::pair<int, DeviceBuffer>> buffers_;
};

/// Whether `programs` of `plan` exchange by words: three or more GPUs, each with access to the memory of the
/// others and few compute queues.
bool exchangeByWords(const Executable& plan, const std::vector<StreamProgram>& programs, const Peers& peers);

} // namespace dfc::cuda
