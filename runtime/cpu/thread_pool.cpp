// One job at a time. A ticket word holds the job's number and the number of its parts that have not begun. A
// worker claims a part by decrementing the ticket, so a late worker can never claim a part of a job that has
// ended. Between jobs workers spin for a while, as the next op often follows within microseconds, and then
// sleep. Each thread that wakes up wakes two others, so the time to wake all of them is logarithmic.
#include "runtime/cpu/thread_pool.h"

#include "ir/base/assert.h"
#include "runtime/available_processors.h"
#include "runtime/cpu_pause.h"
#include "runtime/errors.h"

#include <fmt/format.h>
#include <llvm/ADT/SmallVector.h>

#include <algorithm>
#include <chrono>
#include <system_error>

namespace dfc {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint64_t oneJob = uint64_t{1} << 32;
uint32_t partsLeft(uint64_t ticket) { return static_cast<uint32_t>(ticket); }

struct Later {
  ThreadPool::Afterwards action;
  const std::byte* from;
  size_t bytes;
};
thread_local llvm::SmallVector<Later, 8> afterwards; // of the parts that ran on this thread

/// Spins until `reached` or a time limit; returns whether it was reached.
template <class Reached>
bool spin(Clock::duration most, const Reached& reached) {
  constexpr uint32_t looksBetweenClocks = 32;
  const auto end = Clock::now() + most;
  do {
    for (uint32_t i = 0; i < looksBetweenClocks; ++i) {
      if (reached()) {
        return true;
      }
      pauseCpu();
    }
  } while (Clock::now() < end);
  return reached();
}

// Spinning: waking many threads takes longer than most ops, so a host with cores to spare keeps its workers
// awake from one op of a training step to the next. On few cores a spinning thread displaces others.
Clock::duration spinTime(uint32_t threads, bool spins) {
  constexpr uint32_t manyCores = 8;
  const uint32_t cores = availableProcessors();
  if (!spins || threads > cores) {
    return std::chrono::microseconds(1);
  }
  return cores >= manyCores ? std::chrono::milliseconds(5) : std::chrono::microseconds(50);
}

} // namespace

ThreadPool::ThreadPool(uint32_t threads, bool spins) : spin_(spinTime(threads, spins)) {
  DFC_ASSERT(threads >= 1, "a pool counts its caller");
  workers_.reserve(threads - 1);
  try {
    for (uint32_t i = 1; i < threads; ++i) {
      workers_.emplace_back([this] { workerLoop(); });
    }
  } catch (const std::system_error& error) {
    const size_t started = workers_.size() + 1;
    stop();
    throw MachineError(
        fmt::format("{} of {} threads could be started ({}); raise the limit on processes (ulimit -u), "
                    "or give the device fewer threads in the machine file",
                    started, threads, error.code().message()));
  }
}

ThreadPool::~ThreadPool() { stop(); }

void ThreadPool::stop() {
  stopping_.store(true, std::memory_order_seq_cst);
  rung_.fetch_add(1, std::memory_order_seq_cst);
  rung_.notify_all();
  for (std::thread& worker : workers_) {
    worker.join();
  }
}

void ThreadPool::run(uint32_t parts, llvm::function_ref<void(uint32_t)> work) {
  std::unique_lock<std::mutex> mine(caller_, std::defer_lock);
  if (parts <= 1 || workers_.empty() || !mine.try_lock()) {
    for (uint32_t part = 0; part < parts; ++part) {
      work(part);
    }
    afterwards.clear();
    return;
  }
  work_ = work;
  parts_ = parts;
  error_ = nullptr;
  failed_.store(false, std::memory_order_relaxed);
  ended_.store(0, std::memory_order_relaxed);
  const uint64_t job = (ticket_.load(std::memory_order_relaxed) & ~(oneJob - 1)) + oneJob;
  ticket_.store(job | parts, std::memory_order_seq_cst);
  wakeTwo();
  drain(false);
  awaitEnd();
  if (error_) {
    std::rethrow_exception(std::exchange(error_, nullptr));
  }
}

void ThreadPool::awaitEnd() {
  const auto over = [&] { return ended_.load(std::memory_order_seq_cst) == parts_; };
  if (spin(spin_, over)) {
    return;
  }
  callerSleeps_.store(true, std::memory_order_seq_cst);
  for (uint32_t ended = ended_.load(std::memory_order_seq_cst); ended != parts_;
       ended = ended_.load(std::memory_order_seq_cst)) {
    ended_.wait(ended, std::memory_order_seq_cst);
  }
  callerSleeps_.store(false, std::memory_order_relaxed);
}

// No lost wake-up: a worker registers as a sleeper before it looks at the ticket for the last time, and a
// caller looks for sleepers after it has published its job, so at least one of the two sees the other.
void ThreadPool::wakeTwo() {
  if (sleepers_.load(std::memory_order_seq_cst) > 0) {
    rung_.fetch_add(1, std::memory_order_seq_cst);
    rung_.notify_one();
    rung_.notify_one();
  }
}

void ThreadPool::sleep() {
  sleepers_.fetch_add(1, std::memory_order_seq_cst);
  const uint32_t rung = rung_.load(std::memory_order_seq_cst);
  if (!called()) {
    rung_.wait(rung, std::memory_order_seq_cst);
  }
  sleepers_.fetch_sub(1, std::memory_order_seq_cst);
}

bool ThreadPool::called() const {
  return partsLeft(ticket_.load(std::memory_order_seq_cst)) > 0 || stopping_.load(std::memory_order_seq_cst);
}

void ThreadPool::workerLoop() {
  while (!stopping_.load(std::memory_order_relaxed)) {
    if (!spin(spin_, [&] { return called(); })) {
      sleep();
      if (partsLeft(ticket_.load(std::memory_order_relaxed)) > 1) {
        wakeTwo();
      }
    }
    drain(true);
  }
}

void ThreadPool::afterPart(Afterwards action, const std::byte* from, size_t bytes) {
  afterwards.push_back({action, from, bytes});
}

void ThreadPool::drain(bool isWorker) {
  uint64_t ticket = ticket_.load(std::memory_order_acquire);
  while (partsLeft(ticket) > 0) {
    if (!ticket_.compare_exchange_weak(ticket, ticket - 1, std::memory_order_acq_rel,
                                       std::memory_order_acquire)) {
      continue;
    }
    carryOut(parts_ - partsLeft(ticket)); // the job cannot end before this part has
    ticket = ticket_.load(std::memory_order_acquire);
  }
  if (isWorker) {
    for (const Later& later : afterwards) {
      later.action(later.from, later.bytes);
    }
  }
  afterwards.clear();
}

void ThreadPool::carryOut(uint32_t part) {
  const uint32_t parts = parts_; // of this job: the next one's may be there once this part has ended
  if (!failed_.load(std::memory_order_relaxed)) {
    try {
      work_(part);
    } catch (...) {
      const std::lock_guard<std::mutex> lock(errorMutex_);
      error_ = error_ ? error_ : std::current_exception();
      failed_.store(true, std::memory_order_relaxed);
    }
  }
  const bool last = ended_.fetch_add(1, std::memory_order_seq_cst) + 1 == parts;
  if (last && callerSleeps_.load(std::memory_order_seq_cst)) {
    ended_.notify_one();
  }
}

uint32_t partCount(const ThreadPool& pool, int64_t tasks, double totalCost) {
  constexpr double worthHanding = 10e3; // handing a part to a thread that spins costs about a microsecond
  constexpr int64_t partsPerThread = 2; // more parts than threads, so that a preempted thread delays less
  const double byCost = std::max(1.0, totalCost / worthHanding);
  const int64_t threads = pool.threads();
  const auto most = std::min(tasks, threads == 1 ? 1 : threads * partsPerThread);
  return static_cast<uint32_t>(
      std::max<int64_t>(1, byCost < static_cast<double>(most) ? static_cast<int64_t>(byCost) : most));
}

TaskRange tasksOfPart(int64_t tasks, uint32_t parts, uint32_t part) {
  const int64_t each = tasks / parts;
  const int64_t extra = tasks % parts; // the first `extra` parts take one task more
  const int64_t begin = part * each + std::min<int64_t>(part, extra);
  return {begin, begin + each + (part < extra ? 1 : 0)};
}

} // namespace dfc
