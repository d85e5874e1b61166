// ThreadPool: the threads that one device's kernels use. A kernel cuts its computation into tasks, by shape
// alone, and deals the tasks out in parts, whose number may depend on the threads. The pool belongs to the
// device and serves all its queues: a caller that finds it busy runs its parts itself.
#pragma once

#include <llvm/ADT/STLFunctionalExtras.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace dfc {

class ThreadPool {
 public:
  /// `threads` counts the caller too: 1 starts no thread at all. `spins`: between jobs workers stay awake for
  /// a while, where the host has as many cores. Asserts threads >= 1. Throws MachineError, after ending the
  /// threads that were started, when the host cannot start so many.
  explicit ThreadPool(uint32_t threads, bool spins = true);
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool();

  uint32_t threads() const { return static_cast<uint32_t>(workers_.size()) + 1; }

  /// Runs work(0), …, work(parts - 1), each once, on the workers and on the caller, and returns when all have
  /// ended. After an exception of a part (the first is thrown again here) parts not yet begun may be left
  /// out. May be called by several threads at once, but not from within a part.
  void run(uint32_t parts, llvm::function_ref<void(uint32_t part)> work);

  /// Within a part: an action on these bytes that the part's thread carries out once it finds no more parts,
  /// so that no job waits for it. A hint: the thread that called `run` leaves it out. The bytes may have been
  /// overwritten or freed by then.
  using Afterwards = void (*)(const std::byte* from, size_t bytes);
  static void afterPart(Afterwards action, const std::byte* from, size_t bytes);

 private:
  void stop(); ///< ends and joins all workers
  void workerLoop();
  bool called() const; ///< there is a part to begin, or the pool is stopping
  void sleep();
  void wakeTwo();
  void drain(bool isWorker); ///< carries out parts until none is left to begin
  void carryOut(uint32_t part);
  void awaitEnd();

  std::mutex caller_; // held by the caller whose job the workers see
  std::chrono::steady_clock::duration spin_;
  // The job: written while no part of it can be claimed, read by a thread that has claimed one.
  llvm::function_ref<void(uint32_t)> work_ = nullptr;
  uint32_t parts_ = 0;
  std::mutex errorMutex_;
  std::exception_ptr error_; // guarded by errorMutex_ while the job runs
  std::atomic<bool> failed_{false};
  alignas(64) std::atomic<uint64_t> ticket_{
      0}; // the job's number, and in the low half its parts not yet begun
  alignas(64) std::atomic<uint32_t> ended_{0}; // parts of the job
  alignas(64) std::atomic<uint32_t> sleepers_{0};
  std::atomic<uint32_t> rung_{0}; // what sleepers wait on
  std::atomic<bool> callerSleeps_{false}, stopping_{false};
  std::vector<std::thread> workers_;
};

/// The number of parts for `tasks` equal tasks: at most one a task and two a thread, and one where the whole
/// is too cheap to hand to other threads. `totalCost` in nanoseconds, roughly.
uint32_t partCount(const ThreadPool& pool, int64_t tasks, double totalCost);

/// Tasks [begin, end) of one part, where contiguous ranges of `tasks` are dealt evenly to `parts`.
struct TaskRange {
  int64_t begin = 0, end = 0;
};
TaskRange tasksOfPart(int64_t tasks, uint32_t parts, uint32_t part);

} // namespace dfc
