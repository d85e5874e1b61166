// One job at a time; parts are handed out under the mutex, which is cheap because kernels make as many parts
// as there are threads, not one per tile.
#include "runtime/cpu/thread_pool.h"

#include "ir/assert.h"
#include "runtime/errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

namespace dfc {

ThreadPool::ThreadPool(uint32_t threads) {
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
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
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
    return;
  }
  Job job{work, parts, 0, 0, nullptr};
  std::unique_lock<std::mutex> lock(mutex_);
  job_ = &job;
  wake_.notify_all();
  drain(job, lock);
  ended_.wait(lock, [&] { return job.next == job.parts && job.running == 0; });
  job_ = nullptr;
  if (job.error) {
    std::rethrow_exception(job.error);
  }
}

void ThreadPool::workerLoop() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    wake_.wait(lock, [&] { return stopping_ || (job_ != nullptr && job_->next < job_->parts); });
    if (stopping_) {
      return;
    }
    drain(*job_, lock);
  }
}

void ThreadPool::drain(Job& job, std::unique_lock<std::mutex>& lock) {
  while (job.next < job.parts) {
    const uint32_t part = job.next++;
    ++job.running;
    lock.unlock();
    std::exception_ptr error;
    try {
      job.work(part);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    if (error && !job.error) {
      job.error = error;
      job.parts = job.next;
    }
    if (--job.running == 0 && job.next == job.parts) {
      ended_.notify_all();
    }
  }
}

uint32_t partCount(const ThreadPool& pool, int64_t units, double totalCost) {
  constexpr double worthWaking = 30e3; // waking a sleeping thread costs some 10 us
  const double byCost = std::max(1.0, totalCost / worthWaking);
  const auto most = std::min<int64_t>(units, pool.threads());
  return static_cast<uint32_t>(
      std::max<int64_t>(1, byCost < static_cast<double>(most) ? static_cast<int64_t>(byCost) : most));
}

UnitRange unitsOfPart(int64_t units, uint32_t parts, uint32_t part) {
  const int64_t each = units / parts;
  const int64_t extra = units % parts; // the first `extra` parts take one unit more
  const int64_t begin = part * each + std::min<int64_t>(part, extra);
  return {begin, begin + each + (part < extra ? 1 : 0)};
}

} // namespace dfc
