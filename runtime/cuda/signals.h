// How a GPU takes part in the progress words of a session: tiny kernels that wait for a word, publish words,
// and stamp the time. Targets depend on the round, which they read from a counter in their GPU's memory, so
// that a captured CUDA graph serves every round as it is. They go before other kernels that wait for a place.
//
// Kernels rather than stream memory operations: those would carry the round's number in the graph and need an
// update of every node before every launch.
#pragma once

#include "runtime/cuda/kernel_library.h"

#include <cstdint>

namespace dfc::cuda {

/// Wait until `*word >= perRound * round + offset`; the word in pinned memory or in this GPU's.
struct DeviceWait {
  const uint64_t* word;
  uint64_t perRound, offset;
};

/// `*word = perRound * round + offset`; the word in pinned memory or in another GPU's.
struct DevicePublication {
  uint64_t* word;
  uint64_t perRound, offset;
};

/// Of one GPU.
class Signals {
 public:
  /// `round`: the counter, in the memory of the GPU, which is the current one. `stop`: a word in pinned
  /// memory; once it is not zero, nobody waits any longer.
  Signals(KernelLibrary& library, const std::string& architecture, uint64_t* round, const uint64_t* stop);

  static constexpr int atOnce = 16;
  void wait(cudaStream_t stream, const DeviceWait* waits, int count) const; ///< at most `atOnce`
  void publish(cudaStream_t stream, const DevicePublication* publications, int count) const; ///< likewise
  /// Publishes all ends of the round, then counts the round. `ends`: in pinned memory, alive until it ran.
  void endRound(cudaStream_t stream, const DevicePublication* ends, int count) const;
  /// Nanoseconds of the GPU's clock to `slots[round % ring * perRound + index]`; `slots` in pinned memory.
  void stamp(cudaStream_t stream, uint64_t* slots, uint32_t ring, uint32_t perRound, uint32_t index) const;

 private:
  void launch(cudaKernel_t kernel, cudaStream_t stream, unsigned threads, void** arguments,
              const char* doing) const;

  uint64_t* round_;
  const uint64_t* stop_;
  int priority_ = 0; ///< the most urgent
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
