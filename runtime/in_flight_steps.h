// InFlightSteps: the steps that were submitted and have not ended. Launches each on all groups, keeps its
// feeds and fetches until it has ended on every queue, and knows which failed. A step that fails ends early
// on every queue, and so do those launched after it; the next one starts afresh when all queues are idle.
// There is no thread of its own.
//
// Callable from many threads. Two locks: `launching_` is held by a thread that launches, or needs all queues
// idle, until it is done, so steps are launched whole and in order; `mutex_` guards the list of steps and
// what each has come to, and is never held while waiting. `launching_` is taken before `mutex_`.
#pragma once

#include "runtime/buffer_pool.h"
#include "runtime/resident.h"
#include "runtime/resolve.h"

#include <deque>
#include <mutex>
#include <thread>

namespace dfc {

/// A loaded queue and what its progress word counts.
struct RunningQueue {
  QueueId id;
  uint64_t perStep = 0; ///< commands
  DeviceGroup* group = nullptr;
};

struct InFlightOptions {
  uint32_t maxInFlight = 2;
  bool trace = false;
  double timeoutSeconds = 0; ///< 0 means never
};

/// One step on its way, and its results afterwards. What is not an atomic is written before `ended` becomes
/// true, under the lock of its InFlightSteps, and not afterwards.
struct InFlightStep {
  uint64_t number = 0;
  std::thread::id submitter;
  bool awaited = false;           ///< a caller waits for it, and so is told of its failure
  std::atomic<bool> ended{false}; ///< and seen to have; notified
  std::vector<Literal> feeds;     ///< shared with the caller until the step ends; a caller's write detaches
  std::vector<const std::byte*> feedAddresses;
  std::vector<std::shared_ptr<std::byte>> fetches;
  std::vector<std::byte*> fetchAddresses;
  std::shared_ptr<const std::vector<FetchRow>> fetchRows;
  Deadline submitted;
  std::exception_ptr error; ///< why it has no results
};

class InFlightSteps {
 public:
  /// `queues`: all that have a program, in queue order; their groups outlive this.
  InFlightSteps(const Executable& plan, const InFlightOptions& options, std::vector<FeedRow> feeds,
                std::vector<FetchRow> fetches, std::vector<RunningQueue> queues, ProgressBoard& board);
  InFlightSteps(const InFlightSteps&) = delete;
  InFlightSteps& operator=(const InFlightSteps&) = delete;
  ~InFlightSteps(); ///< after everything on its way has ended

  llvm::ArrayRef<FeedRow> feeds() const { return feeds_; }
  llvm::ArrayRef<FetchRow> fetches() const { return *fetches_; }
  enum class Awaited : uint8_t { Later, AtOnce }; ///< AtOnce: the caller waits for the step itself
  /// Launches a step with feeds that `checkFeeds` has passed. Blocks while maxInFlight are on their way.
  /// Throws the failure of an earlier step of this thread that no call has reported; the new step is then
  /// not launched.
  std::shared_ptr<InFlightStep> launch(const NamedLiterals& feeds, Awaited awaited);
  /// Until the step has ended; throws its failure.
  void wait(const std::shared_ptr<InFlightStep>& step);
  /// Until one fetched value is there; the rest of the step may still run. Throws the step's failure.
  void wait(const std::shared_ptr<InFlightStep>& step, size_t fetch);
  bool ended(const InFlightStep& step) const;
  /// Until the steps launched before this call have ended. Throws the failure of a step that
  /// no call has reported and no caller waits for.
  void waitAll();
  /// The same; no step is launched while the lock that it gives is held.
  [[nodiscard]] std::unique_lock<std::mutex> pause();
  void close();                  ///< until all have ended; throws nothing
  std::vector<Span> takeSpans(); ///< waits for all, throws nothing

 private:
  using Lock = std::unique_lock<std::mutex>;
  /// A failure that no call has reported.
  struct Unreported {
    std::thread::id submitter;
    std::exception_ptr error;
  };

  // These wait, and take mutex_ themselves.
  void settleThrough(uint64_t number);
  bool awaitEnd(const InFlightStep& step, std::optional<Deadline> deadline);
  void awaitFreePlace();
  void clearFailure();
  // These are called with mutex_ held.
  void settle(InFlightStep& step);
  std::shared_ptr<InFlightStep> makeStep(const NamedLiterals& feeds, Awaited awaited);
  std::optional<Deadline> deadlineOf(const InFlightStep& step) const;
  void limitOldest();
  std::exception_ptr errorOf(const InFlightStep& step) const;
  void keepUnreported(const InFlightStep& step);
  void throwUnreported(std::optional<std::thread::id> submitter);
  void report(const InFlightStep& step);
  // These read nothing that changes, and are called on any thread.
  std::exception_ptr overTime(uint64_t number) const;
  std::string whereQueuesAre() const;

  const Executable& plan_;
  InFlightOptions options_;
  std::vector<FeedRow> feeds_;
  std::shared_ptr<const std::vector<FetchRow>> fetches_; // shared with steps in flight, which may outlive us
  std::vector<std::shared_ptr<BufferPool>> pools_;       // by fetch
  ProgressBoard& board_;
  std::vector<RunningQueue> queues_;
  std::vector<DeviceGroup*> groups_; // in the order in which they are launched

  std::mutex launching_;
  mutable std::mutex mutex_;                        // guards all below
  std::deque<std::shared_ptr<InFlightStep>> steps_; // launched and not known to have ended, in order
  uint64_t next_ = 0;
  Deadline lastEnd_;                   // when the step before the oldest step was seen to have ended
  std::thread::id failedSubmitter_;    // of the step that failed last
  std::vector<Unreported> unreported_; // in the order of steps
};

} // namespace dfc
