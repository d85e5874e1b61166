// Rounds: steps on their way. Launches each on all queues, keeps what it needs until it has ended everywhere,
// knows which failed. A round that fails ends early on every queue, and so do those launched after it; the
// next one starts afresh when all queues are idle. Used from one thread at a time; there is no thread of its
// own.
#pragma once

#include "runtime/buffer_pool.h"
#include "runtime/resident.h"
#include "runtime/resolve.h"

#include <deque>

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

class Rounds;

/// One step on its way, and its results afterwards.
struct Flight {
  std::weak_ptr<Rounds> rounds; ///< gone when the session is closed; everything has ended then
  uint64_t number = 0;
  bool ended = false;         ///< and seen to have
  std::vector<Literal> feeds; ///< shared with the caller, who detaches when he writes; let go at the end
  std::vector<const std::byte*> feedAddresses;
  std::vector<std::shared_ptr<std::byte>> fetches;
  std::vector<std::byte*> fetchAddresses;
  std::shared_ptr<const std::vector<FetchRow>> fetchRows;
  Deadline submitted;
  std::exception_ptr error; ///< why it has no results
};

class Rounds : public std::enable_shared_from_this<Rounds> {
 public:
  Rounds(const Executable& plan, const RoundOptions& options, std::vector<FeedRow> feeds,
         std::vector<FetchRow> fetches, std::vector<RunningQueue> queues, ProgressBoard& board);
  Rounds(const Rounds&) = delete;
  Rounds& operator=(const Rounds&) = delete;
  ~Rounds(); ///< after everything on its way has ended

  llvm::ArrayRef<FeedRow> feeds() const { return feeds_; }
  llvm::ArrayRef<FetchRow> fetches() const { return *fetches_; }
  /// Launches a round with feeds that `checkFeeds` has passed. Blocks while maxInFlight are on their way.
  /// Throws the failure of an earlier round that nobody has been told of; the new one is then not launched.
  std::shared_ptr<Flight> launch(const NamedLiterals& feeds);
  /// Until the flight has ended; throws its failure.
  void wait(const std::shared_ptr<Flight>& flight);
  /// Until one fetched value is there; the rest of the round may still run. Throws the round's failure.
  void wait(const std::shared_ptr<Flight>& flight, size_t fetch);
  bool ended(const Flight& flight) const;
  /// Until nothing is on its way. Throws the failure of a round that nobody has been told of.
  void waitAll();
  std::vector<Span> takeSpans(); ///< waits for all, throws nothing

 private:
  void settleThrough(uint64_t round);
  void settleOldest();
  std::optional<Deadline> deadlineOf(const Flight& flight) const;
  void limitOldest();
  void giveUp(uint64_t round);
  std::exception_ptr overTime(uint64_t round) const;
  std::string whereQueuesAre() const;
  std::exception_ptr errorOf(const Flight& flight) const;
  void report(const std::shared_ptr<Flight>& flight);
  void throwUnreported();

  const Executable& plan_;
  RoundOptions options_;
  std::vector<FeedRow> feeds_;
  std::shared_ptr<const std::vector<FetchRow>> fetches_; // shared with flights, which may outlive us
  std::vector<std::shared_ptr<BufferPool>> pools_;       // by fetch
  ProgressBoard& board_;
  std::vector<RunningQueue> queues_;
  std::deque<std::shared_ptr<Flight>> flights_; // launched and not known to have ended, in order
  uint64_t next_ = 0;
  Deadline lastEnd_; // when the round before the oldest flight was seen to have ended
  std::exception_ptr unreported_;
};

} // namespace dfc
