// Launching, waiting for ends, and what happens when a round fails or takes too long.
#include "runtime/rounds.h"

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

Rounds::~Rounds() { settleThrough(next_); }

std::shared_ptr<Flight> Rounds::launch(const NamedLiterals& feeds) {
  while (flights_.size() >= options_.maxInFlight) {
    settleOldest();
  }
  if (board_.failed()) {
    settleThrough(next_);
    board_.clearFailure();
  }
  throwUnreported();
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
  flight->rounds = weak_from_this();
  flight->number = next_++;
  flight->submitted = std::chrono::steady_clock::now();
  flights_.push_back(flight);
  limitOldest();
  const Round round{flight->number, flight->feedAddresses, flight->fetchAddresses, options_.trace};
  for (const RunningQueue& queue : queues_) {
    queue.queue->launch(round);
  }
  return flight;
}

void Rounds::wait(const std::shared_ptr<Flight>& flight) {
  settleThrough(flight->number + 1);
  report(flight);
}

void Rounds::wait(const std::shared_ptr<Flight>& flight, size_t fetch) {
  settleThrough(flight->number); // the rounds before have ended when a value of this one is there
  const WaitFor& ready = (*fetches_)[fetch].ready;
  const bool there = flight->ended || ready.word->wait(ready.target(flight->number), board_.failedFlag(),
                                                       board_.spins(), deadlineOf(*flight));
  if (!there || board_.failed()) {
    wait(flight);
  }
  report(flight);
}

bool Rounds::ended(const Flight& flight) const {
  return std::all_of(queues_.begin(), queues_.end(), [&](const RunningQueue& queue) {
    return board_[queue.id.index()].ended() >= queue.perRound * (flight.number + 1);
  });
}

void Rounds::waitAll() {
  settleThrough(next_);
  throwUnreported();
}

std::vector<Span> Rounds::takeSpans() {
  settleThrough(next_);
  std::vector<Span> spans;
  for (const RunningQueue& queue : queues_) {
    const std::vector<Span> more = queue.queue->takeSpans();
    spans.insert(spans.end(), more.begin(), more.end());
  }
  return spans;
}

void Rounds::settleThrough(uint64_t round) {
  while (!flights_.empty() && flights_.front()->number < round) {
    settleOldest();
  }
}

void Rounds::settleOldest() {
  const std::shared_ptr<Flight> flight = flights_.front();
  std::optional<Deadline> deadline = deadlineOf(*flight);
  for (const RunningQueue& queue : queues_) {
    const ProgressWord& word = board_[queue.id.index()];
    const uint64_t end = queue.perRound * (flight->number + 1);
    if (!word.wait(end, neverStop, board_.spins(), deadline)) {
      giveUp(flight->number);
      deadline.reset();
      word.wait(end, neverStop, 0);
    }
  }
  lastEnd_ = std::chrono::steady_clock::now();
  flights_.pop_front();
  limitOldest();
  flight->ended = true;
  flight->error = errorOf(*flight);
  flight->feeds.clear();
  const auto failure = board_.failure();
  if (failure && failure->round == flight->number) { // those after it are its consequence
    unreported_ = failure->error;
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

void Rounds::giveUp(uint64_t round) { board_.fail(round, overTime(round)); }

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
void Rounds::report(const std::shared_ptr<Flight>& flight) {
  if (flight->error) {
    unreported_ = nullptr;
    std::rethrow_exception(flight->error);
  }
}

void Rounds::throwUnreported() {
  if (unreported_) {
    std::rethrow_exception(std::exchange(unreported_, nullptr));
  }
}

} // namespace dfc
