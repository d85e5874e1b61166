// How queues tell one another how far they are: a progress word for each queue, in host memory that every
// backend can read and write, counts the commands of that queue that have ended since the session opened.
// "Command p of queue q has ended in step r" is `ended(q) >= perStep(q) * r + p + 1`. A CPU thread spins on
// a word for a moment and then sleeps; a GPU stream can wait on the same word with a stream memory operation.
// A queue need not publish every command: only those that are waited for, and the end of each step.
//
// The board holds the words of a session and its failure: once a step has failed, no wait blocks any longer,
// every queue ends its launched steps without doing their work, and the session may clear the failure when
// all are idle.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>

namespace dfc {

using Deadline = std::chrono::steady_clock::time_point;

/// One queue's count. The writer is that queue alone. Publishing is a release, reading an acquire.
class ProgressWord {
 public:
  uint64_t ended() const { return ended_.load(std::memory_order_acquire); }
  /// Wakes the sleepers where there are any. Counts never go back.
  void publish(uint64_t ended) {
    ended_.store(ended, std::memory_order_seq_cst);
    if (sleepers_.load(std::memory_order_seq_cst) != 0) {
      ring();
    }
  }
  /// Until `ended() >= target`, or `stop` is set and the word rung, or the deadline is past: spins `spins`
  /// times, then sleeps. Gives whether the target was reached.
  bool wait(uint64_t target, const std::atomic<bool>& stop, uint32_t spins,
            std::optional<Deadline> deadline = std::nullopt) const;
  void ring() const; ///< wakes every sleeper to look again
  /// The count itself, for a device that writes it over the bus. A device cannot wake a sleeping thread, so
  /// from this call on, which comes before the first step, waiters look again and again instead of sleeping
  /// for good.
  std::atomic<uint64_t>& handToDevice() {
    writtenByDevice_ = true;
    return ended_;
  }
  /// For a device that reads it over the bus.
  const std::atomic<uint64_t>& count() const { return ended_; }

 private:
  bool sleep(uint64_t target, const std::atomic<bool>& stop, std::optional<Deadline> deadline) const;

  alignas(64) std::atomic<uint64_t> ended_{0};
  bool writtenByDevice_ = false;
  // A sleeper counts itself before it looks a last time and the writer looks for sleepers after it has
  // written, both sequentially consistent: one of the two sees the other.
  alignas(64) mutable std::atomic<uint32_t> sleepers_{0};
  mutable std::mutex mutex_;
  mutable std::condition_variable woken_;
};

/// Until `word` has come to `perStep * step + offset`: offset p + 1 is the end of command p of the same
/// step, 0 the end of the step before.
struct WaitFor {
  const ProgressWord* word = nullptr;
  uint64_t perStep = 0;
  uint64_t offset = 0;
  uint64_t target(uint64_t step) const { return perStep * step + offset; }
};

/// When the oldest step under way is over its limit of time. Set by the session's thread, read by queues at
/// every command: while no limit is set that is one load.
class StepLimit {
 public:
  static constexpr int64_t never = std::numeric_limits<int64_t>::max();
  /// A reader that sees the new step never sees the deadline of the one before: it is taken away first.
  void set(uint64_t step, Deadline deadline) {
    deadline_.store(never, std::memory_order_seq_cst);
    step_.store(step, std::memory_order_seq_cst);
    deadline_.store(deadline.time_since_epoch().count(), std::memory_order_seq_cst);
  }
  /// Whether `step` is the limited one and its time is over.
  bool passed(uint64_t step) const {
    return deadline_.load(std::memory_order_relaxed) != never &&
           step_.load(std::memory_order_seq_cst) == step &&
           std::chrono::steady_clock::now().time_since_epoch().count() >=
               deadline_.load(std::memory_order_seq_cst);
  }

 private:
  std::atomic<uint64_t> step_{0};
  std::atomic<int64_t> deadline_{never};
};

/// The first thing that went wrong, and in which step.
struct Failure {
  uint64_t step = 0;
  std::exception_ptr error;
};

class ProgressBoard {
 public:
  /// `words`: one a queue. `spins`: how often a waiter looks before it sleeps.
  ProgressBoard(size_t words, uint32_t spins);
  ProgressWord& operator[](size_t queue) { return words_[queue]; }
  const ProgressWord& operator[](size_t queue) const { return words_[queue]; }
  size_t size() const { return size_; }
  uint32_t spins() const { return spins_; }

  /// Whether the wait ended well; false means that a step failed and no queue is to wait or work.
  bool await(const WaitFor& wait, uint64_t step) const {
    const uint64_t target = wait.target(step);
    return wait.word->ended() >= target || wait.word->wait(target, failed_, spins_);
  }
  bool failed() const { return failed_.load(std::memory_order_relaxed); }
  /// Whether a queue is to do no more work in `step`: a step failed, or this one is over its limit, which
  /// then becomes its failure.
  bool stops(uint64_t step) {
    if (!failed() && limit_.passed(step)) {
      fail(step, overTime_(step));
    }
    return failed();
  }
  /// `overTime` makes the failure of a step over its limit; called on any thread, from the first `setLimit`.
  void onOverTime(std::function<std::exception_ptr(uint64_t)> overTime) { overTime_ = std::move(overTime); }
  void setLimit(uint64_t step, Deadline deadline) { limit_.set(step, deadline); }
  const std::atomic<bool>& failedFlag() const { return failed_; }
  /// Records the failure unless there is one of this or an earlier step, and wakes everybody.
  void fail(uint64_t step, std::exception_ptr error);
  std::optional<Failure> failure() const;
  void clearFailure(); ///< only while no launched step is under way

 private:
  struct Delete {
    size_t count = 0;
    void operator()(ProgressWord* words) const;
  };
  std::unique_ptr<ProgressWord[], Delete> words_; // whole pages of their own, so that a backend can pin them
  size_t size_;
  uint32_t spins_;
  std::atomic<bool> failed_{false};
  StepLimit limit_;
  std::function<std::exception_ptr(uint64_t)> overTime_;
  mutable std::mutex mutex_;
  std::optional<Failure> failure_;
};

} // namespace dfc
