// WorkerQueue: a queue driven by a thread of the host. It walks a flat list of calls made when it is opened;
// commands without work of their own cost nothing unless the step is traced. The device behind it is a
// WorkMaker: what a command does there. The loop makes no decision and takes no memory: it waits, calls,
// publishes.
#pragma once

#include "runtime/finite/finite_check.h"

#include <deque>
#include <optional>
#include <thread>

namespace dfc {

/// Work prepared for one command: `run(context)`; nothing to do when `run` is null.
struct PreparedCall {
  void (*run)(void*) = nullptr;
  void* context = nullptr;
};

/// Turns commands into calls. Owns what the calls point to.
class WorkMaker {
 public:
  virtual ~WorkMaker() = default;
  /// Once a command, in program order. The contexts stay where they are.
  virtual PreparedCall prepare(const Executable& plan, const Command& command) = 0;
  /// Before each step, on the queue's thread: points the calls at the step's buffers.
  virtual void bind(const Step& step) = 0;
};

struct WorkerOptions {
  Marks* marks = nullptr;   ///< of a profiler, for the ops that the queue runs; null for none
  bool checkFinite = false; ///< whether the queue looks at what each op computes
};

/// The functions do for this queue what those of the same names do for a DeviceGroup.
class WorkerQueue {
 public:
  /// The plan and the board outlive the queue. Throws MachineError where a command cannot be prepared, and
  /// std::system_error where the thread cannot be started.
  WorkerQueue(const Executable& plan, const Program& program, ProgressBoard& board,
              std::unique_ptr<WorkMaker> maker, const WorkerOptions& options);
  WorkerQueue(const WorkerQueue&) = delete;
  WorkerQueue& operator=(const WorkerQueue&) = delete;
  ~WorkerQueue(); ///< after the steps that were launched

  QueueId id() const { return queue_; }
  void launch(const Step& step);
  OpId current() const;
  std::vector<Span> takeSpans() { return std::exchange(spans_, {}); }

 private:
  /// Commands between two points where queues meet: waits before the first, at most one publication after the
  /// last.
  struct Region {
    uint32_t waitsEnd = 0, callsEnd = 0, commandsEnd = 0; ///< each begins where the region before ends
    uint64_t publishes = 0;                               ///< offset in the step; 0 for none
  };
  struct Call {
    PreparedCall work;
    OpId op;
    Marks::Name mark;
  };
  struct TracedCommand {
    PreparedCall work;
    OpId op;
    StepId step;
    Marks::Name mark;
  };

  void addCommand(const Command& command, PreparedCall work, uint64_t offset);
  Marks::Name markOf(OpId op) const;
  void run(const PreparedCall& work, Marks::Name mark, uint64_t step) const;
  void serve();
  void runStep(const Step& step);
  void setCurrent(OpId op) { currentOp_.store(op.index(), std::memory_order_relaxed); }
  void runPlain(const Step& step);
  void runEach(const Step& step);
  void runCommand(size_t command, const Step& step);
  bool passWaits(uint32_t& wait, uint32_t end, uint64_t step) const;
  std::exception_ptr describe(const std::exception_ptr& error) const;

  const Executable& plan_;
  ProgressBoard& board_;
  ProgressWord& word_;
  QueueId queue_;
  uint64_t perStep_;
  std::unique_ptr<WorkMaker> maker_;
  Marks* marks_;
  std::vector<Region> regions_;
  std::vector<WaitFor> waits_;
  std::vector<Call> calls_;             // commands with work, for steps without a trace
  std::vector<TracedCommand> commands_; // all steps and copies, for steps with one
  std::optional<FiniteCheck> check_;    // where it was asked for
  std::vector<Span> spans_;
  std::atomic<uint32_t> currentOp_{OpId().index()};

  std::mutex mutex_;
  std::deque<Step> launched_; // guarded by mutex_
  uint64_t launchCount_ = 0;  // of the launching thread
  ProgressWord launches_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

} // namespace dfc
