// Signals: kernels of one block by which a GPU takes part in a session's progress words. They publish the end
// of a step, stamp the time and, where the driver lacks stream memory operations (stream_memory.h), wait for
// a word or publish one, and by which GPUs wait for one another (peer_words.h). Values depend on the step's
// number, which they read from a counter in pinned memory, so that a captured CUDA graph serves every step
// unchanged.
#pragma once

#include "runtime/cuda/library/kernel_library.h"
#include "runtime/cuda/stream/stream_memory.h"

#include <cstdint>

namespace dfc::cuda {

/// A wait for a progress word: until `*word >= perStep * step + offset`.
struct DeviceWait {
  const uint64_t* word;
  uint64_t perStep, offset;
};

/// `*word = perStep * (step + 1)` at the end of a step, or `perStep * step + offset` within it.
struct DevicePublication {
  uint64_t* word;
  uint64_t perStep, offset;
};

class Signals {
 public:
  /// `step`: the counter, in pinned memory.
  /// `stop`: a word in pinned memory that ends waits for other GPUs once it is not 0.
  Signals(KernelLibrary& library, const std::string& architecture, uint64_t* step,
          const uint64_t* stop = nullptr);

  /// As StreamMemory::enqueue, with kernels.
  void enqueue(cudaStream_t stream, llvm::ArrayRef<WordOperation> operations) const;
  /// Writes words in the memory of other GPUs, then waits for words in the memory of this one (peer_words.h);
  /// behind `countBy`.
  /// `behind`: the stream waits for another GPU's kernel, so that programmatic dependent launch is not safe.
  void exchange(cudaStream_t stream, llvm::ArrayRef<DevicePublication> writes,
                llvm::ArrayRef<DeviceWait> waits, bool behind) const;
  /// Publishes the ends of all queues, then increments the counter. `own`: the step's number in the GPU's own
  /// memory. `alone`: the stream is the step's only one, so that programmatic dependent launch is safe.
  void endStep(cudaStream_t stream, uint64_t* own, llvm::ArrayRef<DevicePublication> ends, bool alone) const;
  /// From now on stamps read the step's number from this copy in the GPU's own memory: the counter is across
  /// the bus, and a stamp that reads it holds the next kernel up for a microsecond.
  void countBy(const uint64_t* own) { counted_ = own; }
  /// Nanoseconds of the GPU's clock to `slots[step % ring * perStep + index]`; `slots` in pinned memory.
  /// `afterKernel`: the last thing on the stream is a kernel, whose end the stamp may wait for on the GPU
  /// (programmatic dependent launch), so that its own launch takes no time.
  void stamp(cudaStream_t stream, uint64_t* slots, uint32_t ring, uint32_t perStep, uint32_t index,
             bool afterKernel) const;

 private:
  static constexpr size_t rowsAtOnce = 32;
  void wait(cudaStream_t stream, llvm::ArrayRef<DeviceWait> waits) const; ///< at most rowsAtOnce
  void publish(cudaStream_t stream, const DevicePublication& publication) const;
  void exchangeRows(cudaStream_t stream, llvm::ArrayRef<DevicePublication> writes,
                    llvm::ArrayRef<DeviceWait> waits, bool behind) const; ///< at most rowsAtOnce of each

  uint64_t* step_;
  const uint64_t* stop_;
  const uint64_t* counted_ = nullptr; ///< null: no copy
  cudaKernel_t wait_ = nullptr, publish_ = nullptr, exchange_ = nullptr, end_ = nullptr, stamp_ = nullptr;
};

/// One moment on both clocks.
struct ClockReading {
  uint64_t gpu = 0; ///< nanoseconds
  double host = 0;  ///< of steadySeconds()
};
/// Asks the GPU for its time several times through pinned memory and keeps the answer of least latency.
ClockReading readClock(KernelLibrary& library, const std::string& architecture, cudaStream_t stream);
/// Converts a GPU time to the host's clock, by linear interpolation between two readings.
double hostTime(uint64_t gpu, const ClockReading& first, const ClockReading& last);

} // namespace dfc::cuda
