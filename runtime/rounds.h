// Rounds: steps on their way. Launches each on all queues, keeps what it needs until it has ended everywhere,
// knows which failed. A round that fails ends early on every queue, and so do those launched after it; the
// next one starts afresh when all queues are idle. There is no thread of its own.
//
// Callable from many threads. Two locks: `launching_` is held by whoever launches, or needs all queues idle,
// until it is done, so rounds are launched whole and in order; `mutex_` guards the list of rounds and what
// each has come to, and is never held while waiting. Whoever has both takes `launching_` first.
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
  uint64_t perRound = 0; ///< commands
  std::unique_ptr<Queue> queue;
};

struct RoundOptions {
  uint32_t maxInFlight = 2;
  bool trace = false;
  double timeoutSeconds = 0; ///< 0 means never
};

/// One step on its way, and its results afterwards. What is not an atomic is written before `ended` becomes
/// true, under the lock of its Rounds, and not afterwards.
struct Flight {
  uint64_t number = 0;
  std::thread::id submitter;
  bool awaited = false;           ///< somebody waits for it, and so learns of its failure
  std::atomic<bool> ended{false}; ///< and seen to have; notified
  std::vector<Literal> feeds;     ///< shared with the caller, who detaches when he writes; let go at the end
  std::vector<const std::byte*> feedAddresses;
  std::vector<std::shared_ptr<std::byte>> fetches;
  std::vector<std::byte*> fetchAddresses;
  std::shared_ptr<const std::vector<FetchRow>> fetchRows;
  Deadline submitted;
  std::exception_ptr error; ///< why it has no results
};

class Rounds {
 public:
  Rounds(const Executable& plan, const RoundOptions& options, std::vector<FeedRow> feeds,
         std::vector<FetchRow> fetches, std::vector<RunningQueue> queues, ProgressBoard& board);
  Rounds(const Rounds&) = delete;
  Rounds& operator=(const Rounds&) = delete;
  ~Rounds(); ///< after everything on its way has ended

  llvm::ArrayRef<FeedRow> feeds() const { return feeds_; }
  llvm::ArrayRef<FetchRow> fetches() const { return *fetches_; }
  enum class Awaited : uint8_t { Later, AtOnce }; ///< AtOnce: the caller waits for the round itself
  /// Launches a round with feeds that `checkFeeds` has passed. Blocks while maxInFlight are on their way.
  /// Throws the failure of an earlier round of this thread that nobody has been told of; the new one is then
  /// not launched.
  std::shared_ptr<Flight> launch(const NamedLiterals& feeds, Awaited awaited);
  /// Until the flight has ended; throws its failure.
  void wait(const std::shared_ptr<Flight>& flight);
  /// Until one fetched value is there; the rest of the round may still run. Throws the round's failure.
  void wait(const std::shared_ptr<Flight>& flight, size_t fetch);
  bool ended(const Flight& flight) const;
  /// Until the rounds launched before this call have ended. Throws the failure of a round that nobody has
  /// been told of and nobody waits for.
  void waitAll();
  /// The same; no round is launched while the lock that it gives is held.
  [[nodiscard]] std::unique_lock<std::mutex> pause();
  void close();                  ///< until all have ended; throws nothing
  std::vector<Span> takeSpans(); ///< waits for all, throws nothing

 private:
  using Lock = std::unique_lock<std::mutex>;
  /// A failure that nobody has been told of.
  struct Unreported {
    std::thread::id submitter;
    std::exception_ptr error;
  };

  // These wait, and take mutex_ themselves.
  void settleThrough(uint64_t round);
  bool awaitEnd(const Flight& flight, std::optional<Deadline> deadline);
  void awaitRoom();
  void clearFailure();
  // These are called with mutex_ held.
  void settle(Flight& flight);
  std::shared_ptr<Flight> makeFlight(const NamedLiterals& feeds, Awaited awaited);
  std::optional<Deadline> deadlineOf(const Flight& flight) const;
  void limitOldest();
  std::exception_ptr errorOf(const Flight& flight) const;
  void keepUnreported(const Flight& flight);
  void throwUnreported(std::optional<std::thread::id> submitter);
  void report(const Flight& flight);
  // These read nothing that changes, and are called on any thread.
  std::exception_ptr overTime(uint64_t round) const;
  std::string whereQueuesAre() const;

  const Executable& plan_;
  RoundOptions options_;
  std::vector<FeedRow> feeds_;
  std::shared_ptr<const std::vector<FetchRow>> fetches_; // shared with flights, which may outlive us
  std::vector<std::shared_ptr<BufferPool>> pools_;       // by fetch
  ProgressBoard& board_;
  std::vector<RunningQueue> queues_;

  std::mutex launching_;
  mutable std::mutex mutex_;                    // guards all below
  std::deque<std::shared_ptr<Flight>> flights_; // launched and not known to have ended, in order
  uint64_t next_ = 0;
  Deadline lastEnd_;                   // when the round before the oldest flight was seen to have ended
  std::thread::id failedSubmitter_;    // of the round that failed last
  std::vector<Unreported> unreported_; // in the order of rounds
};

} // namespace dfc
