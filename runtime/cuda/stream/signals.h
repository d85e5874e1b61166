// How a GPU takes part in the progress words of a session: tiny kernels that end a round, stamp the time and,
// where a stream cannot do so by itself (stream_memory.h), wait for a word or publish one. Targets depend on
// the round, which they read from one counter in pinned memory, so that a captured CUDA graph serves every
// round as it is.
#pragma once

#include "runtime/cuda/library/kernel_library.h"
#include "runtime/cuda/stream/stream_memory.h"

#include <cstdint>

namespace dfc::cuda {

/// The words of a session as the GPU sees them: wait until `*word >= perRound * round + offset`.
struct DeviceWait {
  const uint64_t* word;
  uint64_t perRound, offset;
};

/// `*word = perRound * (round + 1)` at the end of a round, or `perRound * round + offset` within it.
struct DevicePublication {
  uint64_t* word;
  uint64_t perRound, offset;
};

class Signals {
 public:
  /// `round`: the counter, in pinned memory.
  Signals(KernelLibrary& library, const std::string& architecture, uint64_t* round);

  /// As StreamMemory::enqueue, with kernels.
  void carryOut(cudaStream_t stream, llvm::ArrayRef<WordOperation> operations) const;
  /// Publishes all ends of the round, then counts the round. `own`: the round's number in the GPU's own
  /// memory. `alone`: the stream is the round's only one, so that a launch ahead of its end is sound.
  void endRound(cudaStream_t stream, uint64_t* own, llvm::ArrayRef<DevicePublication> ends, bool alone) const;
  /// Nanoseconds of the GPU's clock to `slots[round % ring * perRound + index]`; `slots` in pinned memory.
  void stamp(cudaStream_t stream, uint64_t* slots, uint32_t ring, uint32_t perRound, uint32_t index) const;

 private:
  static constexpr int rowsAtOnce = 16;
  void wait(cudaStream_t stream, llvm::ArrayRef<DeviceWait> waits) const; ///< at most rowsAtOnce
  void publish(cudaStream_t stream, const DevicePublication& publication) const;

  uint64_t* round_;
  cudaKernel_t wait_ = nullptr, publish_ = nullptr, end_ = nullptr, stamp_ = nullptr;
};

/// One moment on both clocks.
struct ClockReading {
  uint64_t gpu = 0; ///< nanoseconds
  double host = 0;  ///< of steadySeconds()
};
/// Asks the GPU for its time over and over through pinned memory and keeps the quickest answer.
ClockReading readClock(KernelLibrary& library, const std::string& architecture, cudaStream_t stream);
/// The host's time of a GPU time, on the straight line through two readings.
double hostTime(uint64_t gpu, const ClockReading& first, const ClockReading& last);

} // namespace dfc::cuda
