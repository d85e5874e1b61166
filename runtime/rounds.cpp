// Launching, waiting for ends, and what happens when a round fails or takes too long.
#include "runtime/rounds.h"
#include "ir/plan/executable_parts.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc {
namespace {

const std::atomic<bool> neverStop{false};

std::string whatOf(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& cause) {
    return cause.what();
  }
}

} // namespace

Rounds::Rounds(const Executable& plan, const RoundOptions& options, std::vector<FeedRow> feeds,
               std::vector<FetchRow> fetches, std::vector<RunningQueue> queues, ProgressBoard& board)
    : plan_(plan), options_(options), feeds_(std::move(feeds)),
      fetches_(std::make_shared<const std::vector<FetchRow>>(std::move(fetches))), board_(board),
      queues_(std::move(queues)) {
  options_.maxInFlight = std::max<uint32_t>(options_.maxInFlight, 1);
  for (const FetchRow& fetch : *fetches_) {
    pools_.push_back(BufferPool::make(fetch.type.bytes()));
  }
  board_.onOverTime([this](uint64_t round) { return overTime(round); });
}

Rounds::~Rounds() { close(); }

std::shared_ptr<Flight> Rounds::launch(const NamedLiterals& feeds, Awaited awaited) {
  const Lock launching(launching_);
  awaitRoom();
  clearFailure();
  std::shared_ptr<Flight> flight;
  {
    const Lock lock(mutex_);
    throwUnreported(std::this_thread::get_id());
    flight = makeFlight(feeds, awaited);
    flights_.push_back(flight);
    limitOldest();
  }
  const Round round{flight->number, flight->feedAddresses, flight->fetchAddresses, options_.trace};
  for (const RunningQueue& queue : queues_) {
    queue.queue->launch(round);
  }
  return flight;
}

std::shared_ptr<Flight> Rounds::makeFlight(const NamedLiterals& feeds, Awaited awaited) {
  auto flight = std::make_shared<Flight>();
  for (const FeedRow& row : feeds_) {
    flight->feeds.push_back(feeds.find(row.name)->second);
    flight->feedAddresses.push_back(flight->feeds.back().bytes().data());
  }
  for (const auto& pool : pools_) {
    flight->fetches.push_back(pool->take());
    flight->fetchAddresses.push_back(flight->fetches.back().get());
  }
  flight->fetchRows = fetches_;
  flight->number = next_++;
  flight->submitter = std::this_thread::get_id();
  flight->awaited = awaited == Awaited::AtOnce;
  flight->submitted = std::chrono::steady_clock::now();
  return flight;
}

void Rounds::awaitRoom() {
  uint64_t settled = 0;
  {
    const Lock lock(mutex_);
    settled = next_ < options_.maxInFlight ? 0 : next_ - options_.maxInFlight + 1;
  }
  settleThrough(settled);
}

// Nobody launches meanwhile: launching_ is held.
void Rounds::clearFailure() {
  if (board_.failed()) {
    close();
    board_.clearFailure();
  }
}

void Rounds::wait(const std::shared_ptr<Flight>& flight) {
  {
    const Lock lock(mutex_);
    flight->awaited = flight->awaited || !flight->ended;
  }
  settleThrough(flight->number + 1);
  const Lock lock(mutex_);
  report(*flight);
}

void Rounds::wait(const std::shared_ptr<Flight>& flight, size_t fetch) {
  settleThrough(flight->number); // the rounds before have ended when a value of this one is there
  std::optional<Deadline> deadline;
  {
    const Lock lock(mutex_);
    deadline = deadlineOf(*flight);
  }
  const WaitFor& ready = (*fetches_)[fetch].ready;
  const bool there = flight->ended || ready.word->wait(ready.target(flight->number), board_.failedFlag(),
                                                       board_.spins(), deadline);
  if (!there || board_.failed()) {
    wait(flight);
  }
  const Lock lock(mutex_); // a failure that was cleared since has been written into its flight before
  report(*flight);
}

bool Rounds::ended(const Flight& flight) const {
  return std::all_of(queues_.begin(), queues_.end(), [&](const RunningQueue& queue) {
    return board_[queue.id.index()].ended() >= queue.perRound * (flight.number + 1);
  });
}

void Rounds::waitAll() {
  uint64_t launched = 0;
  {
    const Lock lock(mutex_);
    launched = next_;
  }
  settleThrough(launched);
  const Lock lock(mutex_);
  throwUnreported(std::nullopt);
}

Rounds::Lock Rounds::pause() {
  Lock launching(launching_);
  waitAll();
  return launching;
}

void Rounds::close() { settleThrough(std::numeric_limits<uint64_t>::max()); }

std::vector<Span> Rounds::takeSpans() {
  const Lock launching(launching_);
  close();
  std::vector<Span> spans;
  for (const RunningQueue& queue : queues_) {
    const std::vector<Span> more = queue.queue->takeSpans();
    spans.insert(spans.end(), more.begin(), more.end());
  }
  return spans;
}

// Several threads may wait for the same round; the first that sees its end settles it.
void Rounds::settleThrough(uint64_t round) {
  Lock lock(mutex_);
  while (!flights_.empty() && flights_.front()->number < round) {
    const std::shared_ptr<Flight> flight = flights_.front();
    const std::optional<Deadline> deadline = deadlineOf(*flight);
    lock.unlock();
    const bool inTime = awaitEnd(*flight, deadline);
    lock.lock();
    if (!inTime && !flight->ended) { // after its settling, a failure would be that of a later round
      board_.fail(flight->number, overTime(flight->number));
      lock.unlock();
      awaitEnd(*flight, std::nullopt);
      lock.lock();
    }
    if (!flight->ended) {
      settle(*flight);
    }
  }
}

bool Rounds::awaitEnd(const Flight& flight, std::optional<Deadline> deadline) {
  return std::all_of(queues_.begin(), queues_.end(), [&](const RunningQueue& queue) {
    return board_[queue.id.index()].wait(queue.perRound * (flight.number + 1), neverStop, board_.spins(),
                                         deadline);
  });
}

void Rounds::settle(Flight& flight) {
  lastEnd_ = std::chrono::steady_clock::now();
  flights_.pop_front();
  limitOldest();
  flight.error = errorOf(flight);
  flight.feeds.clear();
  keepUnreported(flight);
  flight.ended.store(true, std::memory_order_release);
  flight.ended.notify_all();
}

// What a thread's own failed round has brought down with it is told by that round's failure.
void Rounds::keepUnreported(const Flight& flight) {
  const auto failure = board_.failure();
  if (!flight.error || !failure) {
    return;
  }
  const bool itself = failure->round == flight.number;
  const bool consequence = !itself && flight.submitter == failedSubmitter_;
  failedSubmitter_ = itself ? flight.submitter : failedSubmitter_;
  if (!flight.awaited && !consequence) {
    unreported_.push_back({flight.submitter, flight.error});
  }
}

std::optional<Deadline> Rounds::deadlineOf(const Flight& flight) const {
  if (options_.timeoutSeconds <= 0) {
    return std::nullopt;
  }
  constexpr double longest = 1e9; // more would not fit into the clock's count
  const std::chrono::duration<double> limit(std::min(options_.timeoutSeconds, longest));
  return std::max(flight.submitted, lastEnd_) + std::chrono::duration_cast<Deadline::duration>(limit);
}

// Those behind the oldest have no limit yet: their time begins when it ends.
void Rounds::limitOldest() {
  if (options_.timeoutSeconds > 0 && !flights_.empty()) {
    board_.setLimit(flights_.front()->number, *deadlineOf(*flights_.front()));
  }
}

std::exception_ptr Rounds::overTime(uint64_t round) const {
  return std::make_exception_ptr(
      MachineError(fmt::format("step {} took longer than its limit of {} s; under way were: {}; raise the "
                               "time limit (--timeout), or look for what "
                               "holds the step up",
                               round, options_.timeoutSeconds, whereQueuesAre())));
}

std::string Rounds::whereQueuesAre() const {
  std::string text;
  for (const RunningQueue& queue : queues_) {
    const OpId op = queue.queue->current();
    if (op.valid()) {
      text += fmt::format("{}op '{}' on {}", text.empty() ? "" : ", ", plan_.graph().nameOf(op),
                          plan_.schedule().nameOf(queue.id, plan_.machine()));
    }
  }
  return text.empty() ? "none" : text;
}

std::exception_ptr Rounds::errorOf(const Flight& flight) const {
  const std::optional<Failure> failure = board_.failure();
  if (!failure || failure->round > flight.number) {
    return nullptr;
  }
  if (failure->round == flight.number) {
    return failure->error;
  }
  return std::make_exception_ptr(
      MachineError(fmt::format("step {} was not run, because step {} failed: {}", flight.number,
                               failure->round, whatOf(failure->error))));
}

// Whoever asks for the flight learns its failure; nobody else needs to any more.
void Rounds::report(const Flight& flight) {
  if (flight.error) {
    std::erase_if(unreported_,
                  [&](const Unreported& failure) { return failure.submitter == flight.submitter; });
    std::rethrow_exception(flight.error);
  }
}

// Those of one thread, or of any.
void Rounds::throwUnreported(std::optional<std::thread::id> submitter) {
  const auto first = std::find_if(unreported_.begin(), unreported_.end(), [&](const Unreported& failure) {
    return !submitter || failure.submitter == *submitter;
  });
  if (first != unreported_.end()) {
    const Unreported failure = *first;
    std::erase_if(unreported_, [&](const Unreported& other) { return other.submitter == failure.submitter; });
    std::rethrow_exception(failure.error);
  }
}

} // namespace dfc
