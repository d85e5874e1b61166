// HostWork: the commands of a host device as prepared calls. Kernels and addresses are fixed at load; only
// the addresses of a step's feed and fetch buffers are filled in as each step begins.
#pragma once

#include "runtime/cpu/host_arena.h"
#include "runtime/cpu/shared_values.h"
#include "runtime/cpu/unchanged_values.h"
#include "runtime/worker_queue.h"

#include <optional>

namespace dfc {

class HostWork final : public WorkMaker {
 public:
  /// The pool outlives the work. Throws MachineError when a kernel's library cannot be opened.
  /// `functions`: what custom ops call, all that the plan asks for; null where it has none.
  explicit HostWork(ThreadPool& pool, std::shared_ptr<const CustomFunctions> functions = nullptr)
      : pool_(pool), functions_(std::move(functions)) {}
  PreparedCall prepare(const Executable& plan, const Command& command) override;
  void bind(const Step& step) override;

 private:
  struct KernelCall {
    std::unique_ptr<CpuKernel> kernel;
    llvm::SmallVector<const std::byte*, 3> operands;
    llvm::SmallVector<std::byte*, 1> results;
  };
  struct CopyCall {
    const std::byte* from = nullptr;
    std::byte* to = nullptr;
    int64_t bytes = 0;
  };
  /// A copy of which at least one side lies in an arena without an address, such as that of a null device:
  /// that side is asked to read or write. Between two such arenas the bytes go through a buffer of the host.
  struct StagedCall {
    Location from, to;
    const std::byte* source = nullptr; ///< null: `from` has no address
    std::byte* target = nullptr;       ///< null: `to` has no address
    std::vector<std::byte> buffer = {};
    void run();
  };
  template <class Pointer>
  struct Patch {
    Pointer* place;
    uint32_t buffer;
  };

  std::unique_ptr<CpuKernel> kernelOf(const Graph& graph, OpId op);
  /// Tells the kernel which operands steps do not change.
  void hold(const Graph& graph, const Command& command, CpuKernel& kernel);
  void refreshHeld();
  PreparedCall prepareKernel(const Graph& graph, const Command& command);
  PreparedCall prepareCopy(const Command& command);
  PreparedCall prepareStaged(const Location& from, const Location& to);
  /// Fixed addresses at once, those of a step's buffers in `bind`. Null when the memory is out of reach.
  void place(const Location& location, const std::byte*& pointer);
  void place(const Location& location, std::byte*& pointer);

  ThreadPool& pool_;
  std::shared_ptr<const CustomFunctions> functions_;
  std::optional<SharedValues> shared_; // of the plan's graph; none until a kernel is prepared
  std::optional<UnchangedValues> unchanged_;
  std::vector<CpuKernel*> holders_;               // kernels that keep what they made of held operands
  llvm::SmallVector<const HostArena*, 1> heldIn_; // arenas of held operands
  uint64_t writesSeen_ = 0;                       // of these
  std::deque<KernelCall> kernels_;                // deques, since calls and patches point into them
  std::deque<CopyCall> copies_;
  std::deque<StagedCall> staged_;
  std::vector<Patch<const std::byte*>> feedPatches_;
  std::vector<Patch<const std::byte*>> fetchReads_;
  std::vector<Patch<std::byte*>> fetchPatches_;
};

} // namespace dfc
