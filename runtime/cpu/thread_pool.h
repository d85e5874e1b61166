// ThreadPool: the threads that one device's kernels may use. A kernel cuts its work into parts by the shapes
// alone; the pool only decides which thread runs which part, so no result depends on it. Owned by the device,
// shared by its queues: a caller that finds the pool busy runs its parts itself.
#pragma once

#include <llvm/ADT/STLFunctionalExtras.h>

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace dfc {

class ThreadPool {
 public:
  /// `threads` counts the caller too: 1 starts no thread at all. Asserts threads >= 1. Throws MachineError
  /// when the host will not start so many; those that were started have ended then.
  explicit ThreadPool(uint32_t threads);
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool();

  uint32_t threads() const { return static_cast<uint32_t>(workers_.size()) + 1; }

  /// Runs work(0), …, work(parts - 1), each once, on the workers and on the caller, and returns when all have
  /// ended. After an exception of a part (the first is thrown again here) parts not yet begun may be left
  /// out. May be called by several threads at once, but not from within a part.
  void run(uint32_t parts, llvm::function_ref<void(uint32_t part)> work);

 private:
  void stop(); ///< ends and joins all workers
  struct Job {
    llvm::function_ref<void(uint32_t)> work;
    uint32_t parts = 0, next = 0, running = 0;
    std::exception_ptr error;
  };
  void workerLoop();
  void drain(Job& job, std::unique_lock<std::mutex>& lock);

  std::mutex caller_; // held by the caller whose job the workers see
  std::mutex mutex_;
  std::condition_variable wake_, ended_;
  Job* job_ = nullptr;
  bool stopping_ = false;
  std::vector<std::thread> workers_;
};

/// How many parts to cut `units` equal pieces of work into: no more than there are threads or units, and one
/// where there is too little work to be worth waking a thread. `totalCost` in nanoseconds, roughly.
uint32_t partCount(const ThreadPool& pool, int64_t units, double totalCost);

/// Units [begin, end) of one part, where `units` are dealt to `parts` in order and evenly.
struct UnitRange {
  int64_t begin = 0, end = 0;
};
UnitRange unitsOfPart(int64_t units, uint32_t parts, uint32_t part);

} // namespace dfc
