// FeedRings: the way of fed values to the GPUs. The caller's bytes are copied to pinned memory by several
// threads, so that the caller may use them again and the bus runs at its rate. Large values then go on to a
// ring in the memory of each GPU that reads them, on a stream of their own: while the step before computes.
// The step copies them from there.
#pragma once

#include "runtime/cpu/thread_pool.h"
#include "runtime/cuda/memory.h"
#include "runtime/cuda/stream/stream_program.h"

#include <llvm/ADT/STLFunctionalExtras.h>

#include <memory>

namespace dfc::cuda {

class FeedRings {
 public:
  /// In-flight steps whose feeds are in pinned memory; further steps wait for a slot.
  static constexpr uint64_t hostSlots = 4;
  /// In-flight steps whose feeds are in a GPU's ring: one that computes, one that is being copied, and one
  /// between.
  static constexpr uint64_t gpuSlots = 3;
  /// Smaller values are copied by the step itself: its copy ends sooner than a copy ahead is awaited.
  static constexpr int64_t leastAhead = 1 << 20;

  FeedRings() = default;
  FeedRings(const FeedRings&) = delete;
  FeedRings& operator=(const FeedRings&) = delete;
  ~FeedRings();

  /// Before the first step: a ring for each fed value that these programs copy from. A GPU that has no memory
  /// to spare has no part of it, and copies from pinned memory. Throws MachineError.
  void make(llvm::ArrayRef<StreamProgram> programs);
  /// Copies the step's feeds, and begins the copies ahead; a traced step has none, so that its trace shows
  /// the bus. Waits, by `waitForStep(number)`, for the steps that still use a slot. Throws MachineError.
  void stage(const Step& step, llvm::function_ref<void(uint64_t)> waitForStep);
  /// What `stream` is given next waits for the copies ahead of the staged step.
  void awaitOn(cudaStream_t stream) const;
  /// Where a copy on this GPU finds the feed of a staged step.
  std::byte* source(uint32_t feed, int ordinal, const Step& step) const;

 private:
  /// A GPU's part of a ring.
  struct Ahead {
    int ordinal = 0;
    DeviceBuffer buffer;
  };
  struct Ring {
    uint32_t feed = 0;
    int64_t bytes = 0;
    PinnedBuffer host;
    std::vector<Ahead> ahead;
  };
  /// The copies ahead to one GPU.
  struct CopyStream {
    int ordinal = 0;
    cudaStream_t stream = nullptr;
    cudaEvent_t copied = nullptr;
  };

  void addAhead(Ring& ring, int ordinal);
  const CopyStream& streamTo(int ordinal);
  void copy(const Ring& ring, const Step& step);
  void copyAhead(const Ring& ring, const Step& step, int64_t begin, int64_t end);
  static std::byte* hostSlot(const Ring& ring, uint64_t step);
  static std::byte* gpuSlot(const Ring& ring, const Ahead& ahead, uint64_t step);

  std::vector<Ring> rings_;
  std::vector<CopyStream> copyStreams_;
  std::unique_ptr<ThreadPool> threads_; ///< from the first large feed on
};

} // namespace dfc::cuda
