// Launching, waiting for ends, and what happens when a step fails or takes too long.
#include "runtime/in_flight_steps.h"
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

// By the last queue of each, so that the host, which comes early in most machines, does not wait for the
// launch of a group of GPUs: that takes longer than waking threads.
std::vector<DeviceGroup*> groupsOf(llvm::ArrayRef<RunningQueue> queues) {
  std::vector<DeviceGroup*> groups;
  for (const RunningQueue& queue : queues) {
    std::erase(groups, queue.group);
    groups.push_back(queue.group);
  }
  return groups;
}

} // namespace

InFlightSteps::InFlightSteps(const Executable& plan, const InFlightOptions& options,
                             std::vector<FeedRow> feeds, std::vector<FetchRow> fetches,
                             std::vector<RunningQueue> queues, ProgressBoard& board)
    : plan_(plan), options_(options), feeds_(std::move(feeds)),
      fetches_(std::make_shared<const std::vector<FetchRow>>(std::move(fetches))), board_(board),
      queues_(std::move(queues)), groups_(groupsOf(queues_)) {
  for (const FetchRow& fetch : *fetches_) {
    pools_.push_back(BufferPool::make(fetch.type.bytes()));
  }
  board_.onOverTime([this](uint64_t number) { return overTime(number); });
}

InFlightSteps::~InFlightSteps() { close(); }

std::shared_ptr<InFlightStep> InFlightSteps::launch(const NamedLiterals& feeds, Awaited awaited) {
  const Lock launching(launching_);
  awaitFreePlace();
  clearFailure();
  std::shared_ptr<InFlightStep> step;
  {
    const Lock lock(mutex_);
    throwUnreported(std::this_thread::get_id());
    step = makeStep(feeds, awaited);
    steps_.push_back(step);
    limitOldest();
  }
  const Step launched{step->number, step->feedAddresses, step->fetchAddresses, options_.trace};
  for (DeviceGroup* group : groups_) {
    group->launch(launched);
  }
  return step;
}

std::shared_ptr<InFlightStep> InFlightSteps::makeStep(const NamedLiterals& feeds, Awaited awaited) {
  auto step = std::make_shared<InFlightStep>();
  for (const FeedRow& row : feeds_) {
    step->feeds.push_back(feeds.find(row.name)->second);
    step->feedAddresses.push_back(step->feeds.back().bytes().data() + row.offset);
  }
  for (const auto& pool : pools_) {
    step->fetches.push_back(pool->take());
    step->fetchAddresses.push_back(step->fetches.back().get());
  }
  step->fetchRows = fetches_;
  step->number = next_++;
  step->submitter = std::this_thread::get_id();
  step->awaited = awaited == Awaited::AtOnce;
  step->submitted = std::chrono::steady_clock::now();
  return step;
}

void InFlightSteps::awaitFreePlace() {
  uint64_t settled = 0;
  {
    const Lock lock(mutex_);
    settled = next_ < options_.maxInFlight ? 0 : next_ - options_.maxInFlight + 1;
  }
  settleThrough(settled);
}

// Nobody launches meanwhile: launching_ is held.
void InFlightSteps::clearFailure() {
  if (board_.failed()) {
    close();
    board_.clearFailure();
  }
}

void InFlightSteps::wait(const std::shared_ptr<InFlightStep>& step) {
  {
    const Lock lock(mutex_);
    step->awaited = step->awaited || !step->ended;
  }
  settleThrough(step->number + 1);
  const Lock lock(mutex_);
  report(*step);
}

void InFlightSteps::wait(const std::shared_ptr<InFlightStep>& step, size_t fetch) {
  settleThrough(step->number); // the steps before have ended when a value of this one is there
  std::optional<Deadline> deadline;
  {
    const Lock lock(mutex_);
    deadline = deadlineOf(*step);
  }
  const WaitFor& ready = (*fetches_)[fetch].ready;
  const bool there = step->ended || ready.word->wait(ready.target(step->number), board_.failedFlag(),
                                                     board_.spins(), deadline);
  if (!there || board_.failed()) {
    wait(step);
  }
  const Lock lock(mutex_); // a failure that was cleared since has been written into its step before
  report(*step);
}

bool InFlightSteps::ended(const InFlightStep& step) const {
  return std::all_of(queues_.begin(), queues_.end(), [&](const RunningQueue& queue) {
    return board_[queue.id.index()].ended() >= queue.perStep * (step.number + 1);
  });
}

void InFlightSteps::waitAll() {
  uint64_t launched = 0;
  {
    const Lock lock(mutex_);
    launched = next_;
  }
  settleThrough(launched);
  const Lock lock(mutex_);
  throwUnreported(std::nullopt);
}

InFlightSteps::Lock InFlightSteps::pause() {
  Lock launching(launching_);
  waitAll();
  return launching;
}

void InFlightSteps::close() { settleThrough(std::numeric_limits<uint64_t>::max()); }

std::vector<Span> InFlightSteps::takeSpans() {
  const Lock launching(launching_);
  close();
  std::vector<Span> spans;
  for (DeviceGroup* group : groups_) {
    const std::vector<Span> more = group->takeSpans();
    spans.insert(spans.end(), more.begin(), more.end());
  }
  return spans;
}

// Several threads may wait for the same step; the first that sees its end settles it.
void InFlightSteps::settleThrough(uint64_t number) {
  Lock lock(mutex_);
  while (!steps_.empty() && steps_.front()->number < number) {
    const std::shared_ptr<InFlightStep> step = steps_.front();
    const std::optional<Deadline> deadline = deadlineOf(*step);
    lock.unlock();
    const bool inTime = awaitEnd(*step, deadline);
    lock.lock();
    if (!inTime && !step->ended) { // after its settling, a failure would be that of a later step
      board_.fail(step->number, overTime(step->number));
      lock.unlock();
      awaitEnd(*step, std::nullopt);
      lock.lock();
    }
    if (!step->ended) {
      settle(*step);
    }
  }
}

bool InFlightSteps::awaitEnd(const InFlightStep& step, std::optional<Deadline> deadline) {
  return std::all_of(queues_.begin(), queues_.end(), [&](const RunningQueue& queue) {
    return board_[queue.id.index()].wait(queue.perStep * (step.number + 1), neverStop, board_.spins(),
                                         deadline);
  });
}

void InFlightSteps::settle(InFlightStep& step) {
  lastEnd_ = std::chrono::steady_clock::now();
  steps_.pop_front();
  limitOldest();
  step.error = errorOf(step);
  step.feeds.clear();
  keepUnreported(step);
  step.ended.store(true, std::memory_order_release);
  step.ended.notify_all();
}

// A step that ended because an earlier step of the same thread failed has no failure of its own to report.
void InFlightSteps::keepUnreported(const InFlightStep& step) {
  const auto failure = board_.failure();
  if (!step.error || !failure) {
    return;
  }
  const bool itself = failure->step == step.number;
  const bool consequence = !itself && step.submitter == failedSubmitter_;
  failedSubmitter_ = itself ? step.submitter : failedSubmitter_;
  if (!step.awaited && !consequence) {
    unreported_.push_back({step.submitter, step.error});
  }
}

std::optional<Deadline> InFlightSteps::deadlineOf(const InFlightStep& step) const {
  if (options_.timeoutSeconds <= 0) {
    return std::nullopt;
  }
  constexpr double longest = 1e9; // more would not fit into the clock's count
  const std::chrono::duration<double> limit(std::min(options_.timeoutSeconds, longest));
  return std::max(step.submitted, lastEnd_) + std::chrono::duration_cast<Deadline::duration>(limit);
}

// Only the oldest step in flight has a limit: the time of the next begins when it ends.
void InFlightSteps::limitOldest() {
  if (options_.timeoutSeconds > 0 && !steps_.empty()) {
    board_.setLimit(steps_.front()->number, *deadlineOf(*steps_.front()));
  }
}

std::exception_ptr InFlightSteps::overTime(uint64_t number) const {
  return std::make_exception_ptr(
      MachineError(fmt::format("step {} took longer than its limit of {} s; under way were: {}; raise the "
                               "time limit (--timeout), or look for what "
                               "holds the step up",
                               number, options_.timeoutSeconds, whereQueuesAre())));
}

std::string InFlightSteps::whereQueuesAre() const {
  std::string text;
  for (const RunningQueue& queue : queues_) {
    const OpId op = queue.group->current(queue.id);
    if (op.valid()) {
      text += fmt::format("{}op '{}' on {}", text.empty() ? "" : ", ", plan_.graph().nameOf(op),
                          plan_.schedule().nameOf(queue.id, plan_.machine()));
    }
  }
  return text.empty() ? "none" : text;
}

std::exception_ptr InFlightSteps::errorOf(const InFlightStep& step) const {
  const std::optional<Failure> failure = board_.failure();
  if (!failure || failure->step > step.number) {
    return nullptr;
  }
  if (failure->step == step.number) {
    return failure->error;
  }
  return std::make_exception_ptr(
      MachineError(fmt::format("step {} was not run, because step {} failed: {}", step.number, failure->step,
                               whatOf(failure->error))));
}

// The caller that waits for the step is told its failure, so no later call has to be.
void InFlightSteps::report(const InFlightStep& step) {
  if (step.error) {
    std::erase_if(unreported_,
                  [&](const Unreported& failure) { return failure.submitter == step.submitter; });
    std::rethrow_exception(step.error);
  }
}

// Unreported failures of one thread, or of any.
void InFlightSteps::throwUnreported(std::optional<std::thread::id> submitter) {
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
