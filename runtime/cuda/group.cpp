// Opening, and what happens once a round.
#include "runtime/cuda/group.h"

#include <algorithm>
#include <cstring>

namespace dfc::cuda {
namespace {

std::vector<int> ordinalsOf(const std::vector<Gpu>& gpus) {
  std::vector<int> ordinals;
  for (const Gpu& gpu : gpus) {
    if (std::find(ordinals.begin(), ordinals.end(), gpu.ordinal) == ordinals.end()) {
      ordinals.push_back(gpu.ordinal);
    }
  }
  return ordinals;
}

} // namespace

Group::LaunchMarks::LaunchMarks(Marks* marks) {
  if (marks != nullptr) {
    launch = marks->name("launch a step");
    capture = marks->name("capture a step");
    feeds = marks->name("stage feeds");
    wait = marks->name("wait for an earlier step");
  }
}

Group::Group(std::vector<Gpu> gpus, const BackendOptions& options)
    : gpus_(std::move(gpus)), options_(options), library_(options.kernelCache),
      peers_(ordinalsOf(gpus_), library_, options.peerAccess), counter_(64), marks_(options.marks) {
  for (const Gpu& gpu : gpus_) {
    signals_.emplace_back(library_, gpu.architecture, roundCounter());
    wordsByStreams_ = wordsByStreams_ && streamMemory_.serves(gpu.ordinal);
  }
}

Group::~Group() {
  drain();
  launcher_.reset();
  watcher_.reset();
  for (const Captured* captured : {&plain_, &traced_}) {
    if (captured->exec != nullptr) {
      ignore(cudaGraphExecDestroy(captured->exec));
      ignore(cudaGraphDestroy(captured->graph));
    }
  }
  for (const Lane& lane : lanes_) {
    for (cudaEvent_t event : lane.ended) {
      if (event != nullptr) {
        ignore(cudaEventDestroy(event));
      }
    }
    ignore(cudaEventDestroy(lane.joined));
    ignore(cudaStreamDestroy(lane.stream));
  }
  if (launchStream_ != nullptr) {
    ignore(cudaEventDestroy(forked_));
    ignore(cudaStreamDestroy(launchStream_));
  }
  ignore(cudaGetLastError());
}

void Group::add(const Executable& plan, Program program, const Gpu& gpu, ProgressBoard& board) {
  DFC_ASSERT(watcher_ == nullptr, "queues are loaded before the first round");
  plan_ = &plan;
  board_ = &board;
  board[program.queue.index()].handToDevice(); // before anybody waits for it
  loaded_.push_back({std::move(program), &gpu});
  if (loaded_.size() == queuesToLoad()) {
    preparePrograms();
  }
}

SharedParts Group::sharedParts() {
  return {&library_, &peers_, options_.calibration.get(), &pins_, options_.marks, options_.mergeLaunches};
}

void Group::launch(const Step& round) {
  if (++gathered_ < loaded_.size()) {
    return;
  }
  gathered_ = 0;
  if (launcher_ != nullptr && (!launcher_->idle() || underWay(round.number))) {
    launcher_->push(round);
  } else {
    carryOut(round);
  }
}

// Whether any of the first rounds has not ended.
bool Group::underWay(uint64_t rounds) const {
  const StreamProgram& first = programs_.front();
  return (*board_)[first.queue.index()].ended() < first.commands.size() * rounds;
}

void Group::carryOut(const Step& round) {
  try {
    if (watcher_ == nullptr) {
      prepare();
    }
    board_->failed() ? skipRound(round) : launchRound(round);
  } catch (...) {
    fail(round.number, std::current_exception());
  }
}

void Group::launchRound(const Step& round) {
  const Mark mark(options_.marks, marks_.launch, round.number);
  const OnDevice current(programs_[0].gpu->ordinal);
  stageFeeds(round);
  pinFetches(round);
  if (round.traced) {
    for (StreamProgram& program : programs_) {
      prepareSingle(*plan_, program, sharedParts());
    }
    stamps_ = stamps_ != nullptr ? std::move(stamps_) : std::make_unique<Stamps>(programs_, gpus_, library_);
    if (const auto old = Stamps::roundToTakeOut(round.number)) {
      waitForRound(*old);
      stamps_->takeOut(*old);
    }
    stamps_->launched(round.number);
  }
  std::vector<const std::byte*> feeds;
  const Step staged = withStagedFeeds(round, feeds);
  if (options_.graphs) {
    launchGraph(staged);
  } else {
    enqueueRound(staged, launchStream_, nullptr);
  }
  watcher_->launched(round.number + 1);
}

// After a failure nobody works; the words still have to come to their ends, in order.
void Group::skipRound(const Step& round) {
  drainStreams();
  ignore(countRounds(round.number + 1));
  fail(round.number, nullptr);
}

cudaError_t Group::countRounds(uint64_t rounds) const {
  *roundCounter() = rounds;
  return ownCounter_.get() != nullptr
             ? cudaMemcpy(ownCounter_.get(), &rounds, sizeof(rounds), cudaMemcpyHostToDevice)
             : cudaSuccess;
}

std::byte* Group::stagingOf(const FeedRing& ring, uint64_t round) {
  return ring.buffer.get() + static_cast<int64_t>(round) % feedSlots * ring.bytes;
}

void Group::stageFeeds(const Step& round) {
  const Mark mark(options_.marks, marks_.feeds, round.number);
  if (!rings_.empty() && round.number >= uint64_t{feedSlots}) {
    waitForRound(round.number - feedSlots);
  }
  for (const FeedRing& ring : rings_) {
    std::memcpy(stagingOf(ring, round.number), round.feeds[ring.feed], static_cast<size_t>(ring.bytes));
  }
}

Step Group::withStagedFeeds(const Step& round, std::vector<const std::byte*>& feeds) const {
  feeds.assign(round.feeds.begin(), round.feeds.end());
  for (const FeedRing& ring : rings_) {
    feeds[ring.feed] = stagingOf(ring, round.number);
  }
  Step staged = round;
  staged.feeds = feeds;
  return staged;
}

// Their memory comes back from a pool, so that it is soon all pinned; what cannot be is copied to all the
// same.
void Group::pinFetches(const Step& round) {
  for (const StreamProgram& program : programs_) {
    for (const StreamCommand& command : program.commands) {
      if (command.copy.to.base == Location::Base::Fetch) {
        pins_.pin(round.fetches[command.copy.to.buffer], command.copy.to.bytes);
      }
    }
  }
}

void Group::waitForRound(uint64_t round) const {
  const Mark mark(options_.marks, marks_.wait, round);
  static const std::atomic<bool> never{false};
  for (const StreamProgram& program : programs_) {
    (*board_)[program.queue.index()].wait(program.commands.size() * (round + 1), never, board_->spins());
  }
}

void Group::launchGraph(const Step& round) {
  Captured& captured = round.traced ? traced_ : plain_;
  if (captured.exec == nullptr) {
    captured = capture(round);
  }
  patch(captured, round);
  check(cudaGraphLaunch(captured.exec, launchStream_), "launching a step's CUDA graph");
}

void Group::patch(const Captured& captured, const Step& round) const {
  for (const Patch& patch : captured.patches) {
    check(cudaGraphExecMemcpyNodeSetParams1D(captured.exec, patch.node, addressOf(patch.copy->to, round),
                                             addressOf(patch.copy->from, round),
                                             static_cast<size_t>(patch.copy->from.bytes), cudaMemcpyDefault),
          "pointing a copy at this step's buffers");
  }
  for (const WordPatch& patch : captured.wordPatches) {
    const OnDevice current(patch.ordinal);
    streamMemory_.update(captured.exec, patch.node, patch.operations, round.number);
  }
}

void Group::drain() {
  if (launcher_ != nullptr) {
    launcher_->waitIdle();
  }
  drainStreams();
}

void Group::drainStreams() {
  if (launchStream_ != nullptr) {
    ignore(cudaStreamSynchronize(launchStream_));
    for (const Lane& lane : lanes_) {
      ignore(cudaStreamSynchronize(lane.stream));
    }
  }
}

std::vector<Span> Group::takeSpans(QueueId queue) {
  if (launcher_ != nullptr) {
    launcher_->waitIdle(); // the round that it launched may have ended before it was done
  }
  return stamps_ != nullptr ? stamps_->takeSpans(queue) : std::vector<Span>{};
}

// On the watcher's thread.
bool Group::look(uint64_t rounds) {
  if (!underWay(rounds)) {
    return true;
  }
  const cudaError_t code = cudaStreamQuery(launchStream_);
  if (code == cudaSuccess || code == cudaErrorNotReady) {
    return false;
  }
  try {
    check(code, whereIs(*plan_, programs_.front().queue, OpId()) +
                    " or a queue launched with it: a step failed on the GPU");
  } catch (const MachineError&) {
    fail(rounds - 1, std::current_exception());
  }
  return true;
}

void Group::fail(uint64_t round, std::exception_ptr error) {
  if (error) {
    board_->fail(round, std::move(error));
  }
  for (const StreamProgram& program : programs_) {
    (*board_)[program.queue.index()].publish(program.commands.size() * (round + 1));
  }
}

} // namespace dfc::cuda
