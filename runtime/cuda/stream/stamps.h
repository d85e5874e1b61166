// The measured trace of GPU queues: kernels of one thread write the GPU's clock to pinned memory around each
// launch and copy of a traced step, and this class converts the stamps to spans on the host's clock. The ops
// that one launch computes share its time in the proportions of their predicted seconds; an op with several
// launches has the time of the last, or of all where they follow one another. A transfer that a peer read
// replaces lies at the begin of its reader. Pinned memory holds a ring of steps, which is emptied before it
// is overwritten.
#pragma once

#include "ir/plan/launch_plan.h"
#include "ir/plan/trace.h"
#include "runtime/cuda/memory.h"
#include "runtime/cuda/stream/signals.h"
#include "runtime/cuda/stream/stream_program.h"

namespace dfc::cuda {

class Stamps {
 public:
  /// Allocates slots for the launches and copies of all programs. Reads the clocks of all GPUs.
  Stamps(const Executable& plan, const std::vector<StreamProgram>& programs, const std::vector<Gpu>& gpus,
         KernelLibrary& library);

  /// The item that a launch, or a command without launches, is stamped as.
  size_t itemOfLaunch(size_t program, size_t launch) const { return items_[program].ofLaunch[launch]; }
  size_t itemOfCommand(size_t program, size_t position) const { return items_[program].ofCommand[position]; }
  /// Enqueues the stamp before an item; none where the end of the item before is its begin, too.
  void begin(const Signals& signals, cudaStream_t stream, size_t program, size_t item) const;
  /// Enqueues the stamp behind an item.
  void end(const Signals& signals, cudaStream_t stream, size_t program, size_t item, bool afterKernel) const;
  /// Enqueues both stamps of a command without work where it has them; nothing for other commands.
  void mark(const Signals& signals, cudaStream_t stream, size_t program, size_t position) const;
  /// The earlier step whose slots step `step` overwrites: it must have ended and be taken out before `step`
  /// is launched. None in the first turn of the ring.
  static std::optional<uint64_t> stepToTakeOut(uint64_t step);
  void launched(uint64_t step) { waiting_.push_back(step); }
  /// Converts the stamps of the traced steps up to this one, which have ended, to raw spans.
  void takeOut(uint64_t throughStep);
  /// The spans so far; all launched steps have ended.
  std::vector<Span> takeSpans();

 private:
  static constexpr uint32_t ring = 16; ///< steps

  /// A launch or command in the order in which they are enqueued.
  struct Item {
    llvm::SmallVector<StepId, 1> steps; ///< that end with it, in the queue's order
    bool stamped = false;
    bool chained = false; ///< begins where the item before ends
    bool partial = false; ///< a launch whose ops all end with later launches
  };
  static constexpr size_t none = ~size_t{0};
  struct Items {
    std::vector<Item> list;
    std::vector<size_t> ofLaunch, ofCommand; ///< by launch; by position, `none` where launches compute it
  };
  struct RawSpan {
    size_t program; ///< on whose GPU's clock
    StepId step;
    uint32_t stepNumber;
    uint64_t begin, end; ///< nanoseconds of the GPU's clock
  };
  std::vector<ClockReading> readClocks() const;
  Items itemsOf(const StreamProgram& program) const;
  uint32_t slotOf(size_t program, size_t item) const {
    return first_[program] + 2 * static_cast<uint32_t>(item);
  }
  void takeOut(size_t program, uint64_t step, uint64_t* slots);
  void addReplaced(uint64_t step, size_t firstRaw);
  void addSpans(size_t program, const Item& item, uint64_t step, uint64_t begin, uint64_t end);

  const Schedule& schedule_;
  llvm::ArrayRef<PeerRead> peerReads_;
  SideTable<StepId, bool> replaced_; ///< transfers that a peer read replaces
  const std::vector<StreamProgram>& programs_;
  const std::vector<Gpu>& gpus_;
  KernelLibrary& library_;
  std::vector<Items> items_;    ///< by program
  std::vector<uint32_t> first_; ///< by program: its first slot in a step
  uint32_t perStep_ = 0;
  PinnedBuffer slots_;
  std::vector<ClockReading> firstClocks_; ///< by GPU
  std::vector<uint64_t> waiting_;         ///< traced steps whose stamps are still in the slots
  std::vector<RawSpan> raw_;
};

} // namespace dfc::cuda
