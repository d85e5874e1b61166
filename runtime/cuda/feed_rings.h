// FeedRings: staging of feeds. Several threads copy the caller's bytes to a ring buffer in pinned host
// memory. Large feeds (ir/plan/feeds.h) are prefetched from there to a ring buffer in the memory of each GPU
// that uses them, on a stream of its own, while the previous step computes; the step then copies them within
// the GPU.
#pragma once

#include "ir/plan/feeds.h"
#include "runtime/cpu/thread_pool.h"
#include "runtime/cuda/memory.h"
#include "runtime/cuda/stream/stream_program.h"

#include <llvm/ADT/STLFunctionalExtras.h>

#include <memory>

namespace dfc::cuda {

class FeedRings {
 public:
  /// Slots of a ring in pinned memory, one for each in-flight step; further steps wait.
  static constexpr uint64_t hostSlots = 4;
  /// Slots of a ring in a GPU's memory: for the step that computes, the next one, and the one that is being
  /// copied.
  static constexpr uint64_t gpuSlots = 3;

  FeedRings() = default;
  FeedRings(const FeedRings&) = delete;
  FeedRings& operator=(const FeedRings&) = delete;
  ~FeedRings();

  /// Before the first step: allocates a ring for each feed that these programs copy. There is no prefetch to
  /// a GPU without memory to spare. Throws MachineError.
  void make(llvm::ArrayRef<StreamProgram> programs);
  /// Stages the step's feeds and starts their prefetch. A traced step has no prefetch, so that its trace
  /// shows the transfers. Calls `waitForStep(number)` for the last step that used the slots. Throws
  /// MachineError.
  void stage(const Step& step, llvm::function_ref<void(uint64_t)> waitForStep);
  /// Later commands of `stream` wait for the prefetch of the staged step.
  void awaitOn(cudaStream_t stream) const;
  /// The source address of a feed's copy on this GPU, for a staged step.
  std::byte* source(uint32_t feed, int ordinal, const Step& step) const;

 private:
  /// A ring in the memory of a GPU.
  struct GpuRing {
    int ordinal = 0;
    DeviceBuffer buffer;
  };
  struct Ring {
    uint32_t feed = 0;
    int64_t bytes = 0;
    PinnedBuffer host;
    std::vector<GpuRing> onGpus;
  };
  /// The prefetch to one GPU.
  struct CopyStream {
    int ordinal = 0;
    cudaStream_t stream = nullptr;
    cudaEvent_t copied = nullptr;
  };

  void addGpuRing(Ring& ring, int ordinal);
  const CopyStream& streamTo(int ordinal);
  void copy(const Ring& ring, const Step& step);
  void prefetch(const Ring& ring, const Step& step, int64_t begin, int64_t end);
  static std::byte* hostSlot(const Ring& ring, uint64_t step);
  static std::byte* gpuSlot(const Ring& ring, const GpuRing& onGpu, uint64_t step);

  std::vector<Ring> rings_;
  std::vector<CopyStream> copyStreams_;
  std::unique_ptr<ThreadPool> threads_; ///< from the first large feed on
};

} // namespace dfc::cuda
