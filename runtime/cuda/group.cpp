// Opening, and what happens once a round.
#include "runtime/cuda/group.h"

#include <algorithm>
#include <cstring>

namespace dfc::cuda {
namespace {

/// Rounds whose feeds are staged at once; more in flight than this wait for room.
constexpr uint64_t feedSlots = 4;

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

Group::Group(std::vector<Gpu> gpus, const BackendOptions& options)
    : gpus_(std::move(gpus)), options_(options), peers_(ordinalsOf(gpus_)), library_(options.kernelCache),
      stop_(64), sites_(gpus_.size()) {
  for (size_t i = 0; i < gpus_.size(); ++i) {
    const OnDevice current(gpus_[i].ordinal);
    sites_[i].counter = DeviceBuffer(gpus_[i].ordinal, sizeof(uint64_t), "the round's number");
    check(cudaMemset(sites_[i].counter.get(), 0, sizeof(uint64_t)), "setting the round's number");
    sites_[i].signals.emplace(library_, gpus_[i].architecture,
                              reinterpret_cast<uint64_t*>(sites_[i].counter.get()),
                              reinterpret_cast<const uint64_t*>(stop_.get()));
  }
}

Group::~Group() {
  drain();
  watcher_.reset();
  for (const Lane& lane : lanes_) {
    for (cudaEvent_t event : lane.ended) {
      if (event != nullptr) {
        ignore(cudaEventDestroy(event));
      }
    }
    ignore(cudaEventDestroy(lane.joined));
    ignore(cudaStreamDestroy(lane.stream));
  }
  for (const Site& site : sites_) {
    for (const Captured* captured : {&site.plain, &site.traced}) {
      if (captured->exec != nullptr) {
        ignore(cudaGraphExecDestroy(captured->exec));
        ignore(cudaGraphDestroy(captured->graph));
      }
    }
    if (site.stream != nullptr) {
      ignore(cudaEventDestroy(site.forked));
      ignore(cudaStreamDestroy(site.stream));
    }
  }
  ignore(cudaGetLastError());
}

void Group::add(const Executable& plan, const Program& program, const Gpu& gpu, ProgressBoard& board) {
  DFC_ASSERT(watcher_ == nullptr, "queues are loaded before the first round");
  plan_ = &plan;
  board_ = &board;
  board[program.queue.index()].handToDevice(); // before anybody waits for it
  programs_.push_back(
      prepareProgram(plan, program, gpu, {&library_, &peers_, options_.calibration.get(), &pins_}));
}

void Group::launch(const Round& round) {
  if (++gathered_ < programs_.size()) {
    return;
  }
  gathered_ = 0;
  try {
    if (watcher_ == nullptr) {
      prepare();
    }
    launchedRounds_ = round.number + 1;
    board_->failed() ? skipRound(round) : launchRound(round);
  } catch (...) {
    fail(round.number, std::current_exception());
  }
}

void Group::launchRound(const Round& round) {
  stageFeeds(round);
  pinFetches(round);
  if (round.traced) {
    stamps_ = stamps_ != nullptr ? std::move(stamps_) : std::make_unique<Stamps>(programs_, gpus_, library_);
    if (const auto old = Stamps::roundToTakeOut(round.number)) {
      waitForRound(*old);
      stamps_->takeOut(*old);
    }
    stamps_->launched(round.number);
  }
  std::vector<const std::byte*> feeds;
  const Round staged = withStagedFeeds(round, feeds);
  options_.graphs ? launchGraphs(staged) : launchCommands(staged);
  watcher_->launched(launchedRounds_);
}

// After a failure nobody works; the words still have to come to their ends, in order.
void Group::skipRound(const Round& round) {
  drain();
  setWords(round.number + 1);
  fail(round.number, nullptr);
}

// As if every round before `nextRound` had run to its end.
void Group::setWords(uint64_t nextRound) {
  for (const Site& site : sites_) {
    check(cudaMemcpy(site.counter.get(), &nextRound, sizeof nextRound, cudaMemcpyDefault),
          "setting the round's number");
    for (const StreamProgram& program : programs_) {
      const uint64_t ended = program.commands.size() * nextRound;
      check(cudaMemcpy(site.words + program.queue.index(), &ended, sizeof ended, cudaMemcpyDefault),
            "setting a GPU's progress words");
    }
  }
}

void Group::stageFeeds(const Round& round) {
  if (!rings_.empty() && round.number >= feedSlots) {
    waitForRound(round.number - feedSlots);
  }
  for (const FeedRing& ring : rings_) {
    std::memcpy(ring.buffer.get() + static_cast<int64_t>(round.number % feedSlots) * ring.bytes,
                round.feeds[ring.feed], static_cast<size_t>(ring.bytes));
  }
}

Round Group::withStagedFeeds(const Round& round, std::vector<const std::byte*>& feeds) const {
  feeds.assign(round.feeds.begin(), round.feeds.end());
  for (const FeedRing& ring : rings_) {
    feeds[ring.feed] = ring.buffer.get() + static_cast<int64_t>(round.number % feedSlots) * ring.bytes;
  }
  Round staged = round;
  staged.feeds = feeds;
  return staged;
}

// Their memory comes back from a pool, so that it is soon all pinned; what cannot be is copied to all the
// same.
void Group::pinFetches(const Round& round) {
  for (const StreamProgram& program : programs_) {
    for (const StreamCommand& command : program.commands) {
      if (command.copy.to.base == Location::Base::Fetch) {
        pins_.pin(round.fetches[command.copy.to.buffer], command.copy.to.bytes);
      }
    }
  }
}

void Group::waitForRound(uint64_t round) const {
  static const std::atomic<bool> never{false};
  for (const StreamProgram& program : programs_) {
    (*board_)[program.queue.index()].wait(program.commands.size() * (round + 1), never, board_->spins());
  }
}

void Group::launchGraphs(const Round& round) {
  for (size_t i = 0; i < sites_.size(); ++i) {
    if (sites_[i].stream == nullptr) {
      continue;
    }
    const OnDevice current(gpus_[i].ordinal);
    Captured& captured = round.traced ? sites_[i].traced : sites_[i].plain;
    if (captured.exec == nullptr) {
      captured = capture(round, i);
    }
    patch(captured, round);
    check(cudaGraphLaunch(captured.exec, sites_[i].stream), "launching a step's CUDA graph");
  }
}

void Group::launchCommands(const Round& round) {
  for (size_t i = 0; i < sites_.size(); ++i) {
    fork(i, sites_[i].stream);
  }
  for (const auto& [program, position] : order_) {
    enqueue(program, position, round, nullptr);
  }
  for (size_t i = 0; i < sites_.size(); ++i) {
    join(i, sites_[i].stream);
  }
}

void Group::patch(const Captured& captured, const Round& round) const {
  for (const Patch& patch : captured.patches) {
    check(cudaGraphExecMemcpyNodeSetParams1D(captured.exec, patch.node, addressOf(patch.copy->to, round),
                                             addressOf(patch.copy->from, round),
                                             static_cast<size_t>(patch.copy->from.bytes), cudaMemcpyDefault),
          "pointing a copy at this step's buffers");
  }
}

void Group::drain() {
  for (const Site& site : sites_) {
    if (site.stream != nullptr) {
      ignore(cudaStreamSynchronize(site.stream));
    }
  }
  for (const Lane& lane : lanes_) {
    ignore(cudaStreamSynchronize(lane.stream));
  }
}

std::vector<Span> Group::takeSpans(QueueId queue) {
  return stamps_ != nullptr ? stamps_->takeSpans(queue) : std::vector<Span>{};
}

// On the watcher's thread.
bool Group::look(uint64_t rounds) {
  const bool ended = std::all_of(programs_.begin(), programs_.end(), [&](const StreamProgram& program) {
    return (*board_)[program.queue.index()].ended() >= program.commands.size() * rounds;
  });
  for (size_t i = 0; i < sites_.size() && !ended; ++i) {
    const cudaError_t code = sites_[i].stream != nullptr ? cudaStreamQuery(sites_[i].stream) : cudaSuccess;
    if (code != cudaSuccess && code != cudaErrorNotReady) {
      *reinterpret_cast<volatile uint64_t*>(stop_.get()) = 1;
      try {
        check(code, gpus_[i].name + ": a step failed on the GPU");
      } catch (const MachineError&) {
        fail(rounds - 1, std::current_exception());
      }
      return true;
    }
  }
  return ended;
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
