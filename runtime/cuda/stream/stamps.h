// The measured trace of GPU queues: kernels of one thread write the GPU's clock to pinned memory before and
// after each command of a traced step, and this class converts the stamps to spans on the host's clock.
// Pinned memory holds a ring of steps, which is emptied before it is overwritten.
#pragma once

#include "ir/plan/trace.h"
#include "runtime/cuda/memory.h"
#include "runtime/cuda/stream/signals.h"
#include "runtime/cuda/stream/stream_program.h"

namespace dfc::cuda {

class Stamps {
 public:
  /// Allocates slots for the commands of all programs. Reads the clocks of all GPUs.
  Stamps(const std::vector<StreamProgram>& programs, const std::vector<Gpu>& gpus, KernelLibrary& library);

  /// Enqueues the stamp before (or after) a command; none if it is no step of the schedule.
  void stamp(const Signals& signals, cudaStream_t stream, size_t program, size_t position, bool after) const;
  /// The earlier step whose slots step `step` overwrites: it must have ended and be taken out before `step`
  /// is launched. None in the first turn of the ring.
  static std::optional<uint64_t> stepToTakeOut(uint64_t step);
  void launched(uint64_t step) { waiting_.push_back(step); }
  /// Converts the stamps of the traced steps up to this one, which have ended, to raw spans.
  void takeOut(uint64_t throughStep);
  /// The spans of one queue so far; all launched steps have ended.
  std::vector<Span> takeSpans(QueueId queue);

 private:
  static constexpr uint32_t ring = 16; ///< steps

  struct RawSpan {
    size_t program;
    StepId step;
    uint32_t stepNumber;
    uint64_t begin, end; ///< nanoseconds of the GPU's clock
  };
  std::vector<ClockReading> readClocks() const;

  const std::vector<StreamProgram>& programs_;
  const std::vector<Gpu>& gpus_;
  KernelLibrary& library_;
  std::vector<uint32_t> first_; ///< by program: its first slot in a step
  uint32_t perStep_ = 0;
  PinnedBuffer slots_;
  std::vector<ClockReading> firstClocks_; ///< by GPU
  std::vector<uint64_t> waiting_;         ///< traced steps whose stamps are still in the slots
  std::vector<RawSpan> raw_;
};

} // namespace dfc::cuda
