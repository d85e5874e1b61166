// The measured trace of GPU queues: tiny kernels stamp the GPU's clock before and after each traced step into
// pinned memory; here the stamps become spans on the host's clock. A ring of rounds is kept in pinned memory
// and taken out before it is written over.
#pragma once

#include "ir/plan/trace.h"
#include "runtime/cuda/memory.h"
#include "runtime/cuda/stream/signals.h"
#include "runtime/cuda/stream/stream_program.h"

namespace dfc::cuda {

class Stamps {
 public:
  /// Room for the steps of all programs. Reads the clocks of all GPUs.
  Stamps(const std::vector<StreamProgram>& programs, const std::vector<Gpu>& gpus, KernelLibrary& library);

  /// Enqueues the stamp before (or after) a command; nothing where it has no step.
  void stamp(const Signals& signals, cudaStream_t stream, size_t program, size_t position, bool after) const;
  /// Before round `round` is launched: which earlier round must have ended, so that `takeOut(it)` can make
  /// room; none where there is room.
  static std::optional<uint64_t> roundToTakeOut(uint64_t round);
  void launched(uint64_t round) { waiting_.push_back(round); }
  /// Turns the stamps of the traced rounds up to this one, which have ended, into raw spans.
  void takeOut(uint64_t throughRound);
  /// Spans of one queue so far; everything launched has ended.
  std::vector<Span> takeSpans(QueueId queue);

 private:
  static constexpr uint32_t ring = 16; ///< rounds

  struct RawSpan {
    size_t program;
    StepId step;
    uint32_t round;
    uint64_t begin, end; ///< nanoseconds of the GPU's clock
  };
  std::vector<ClockReading> readClocks() const;

  const std::vector<StreamProgram>& programs_;
  const std::vector<Gpu>& gpus_;
  KernelLibrary& library_;
  std::vector<uint32_t> first_; ///< by program: its first slot in a round
  uint32_t perRound_ = 0;
  PinnedBuffer slots_;
  std::vector<ClockReading> firstClocks_; ///< by GPU
  std::vector<uint64_t> waiting_;         ///< traced rounds whose stamps are still in the slots
  std::vector<RawSpan> raw_;
};

} // namespace dfc::cuda
