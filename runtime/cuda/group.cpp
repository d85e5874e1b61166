// Opens a group, and executes one step.
#include "runtime/cuda/group.h"

#include "runtime/cuda/arena.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

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
      peers_(ordinalsOf(gpus_), library_, options.peerAccess), counter_(64), stop_(64),
      marks_(options.marks) {
  for (const Gpu& gpu : gpus_) {
    signals_.emplace_back(library_, gpu.architecture, stepCounter(),
                          reinterpret_cast<const uint64_t*>(stop_.get()));
    wordsByStreams_ = wordsByStreams_ && streamMemory_.serves(gpu.ordinal);
  }
}

Group::~Group() {
  if (launcher_ != nullptr) {
    launcher_->waitIdle();
  }
  drainStreams();
  launcher_.reset();
  watcher_.reset();
  for (const Captured* captured : {&plain_, &traced_}) {
    if (captured->exec != nullptr) {
      ignore(cudaGraphExecDestroy(captured->exec));
      ignore(cudaGraphDestroy(captured->graph));
    }
  }
  for (const QueueStream& stream : streams_) {
    for (cudaEvent_t event : stream.ended) {
      if (event != nullptr) {
        ignore(cudaEventDestroy(event));
      }
    }
    ignore(cudaEventDestroy(stream.joined));
    ignore(cudaStreamDestroy(stream.handle));
  }
  if (launchStream_ != nullptr) {
    ignore(cudaEventDestroy(forked_));
    ignore(cudaStreamDestroy(launchStream_));
  }
  ignore(cudaGetLastError());
}

std::unique_ptr<Arena> Group::allocate(size_t device, int64_t bytes) {
  return std::make_unique<CudaArena>(gpus_[device].name, gpus_[device].ordinal, bytes);
}

std::string Group::description(size_t device) const {
  std::string text = fmt::format("{} ({})", gpus_[device].model, gpus_[device].architecture);
  for (const std::string& warning : peers_.warnings()) {
    text += "; warning: " + warning;
  }
  return text;
}

void Group::launch(const Step& step) {
  if (launcher_ != nullptr && (!launcher_->idle() || inFlight(step.number))) {
    launcher_->push(step);
  } else {
    execute(step);
  }
}

// Whether any of the first `steps` steps has not ended.
bool Group::inFlight(uint64_t steps) const {
  const StreamProgram& first = programs_.front();
  return (*board_)[first.queue.index()].ended() < first.commands.size() * steps;
}

void Group::execute(const Step& step) {
  try {
    board_->failed() ? skipStep(step, nullptr) : launchStep(step);
  } catch (...) {
    skipStep(step, std::current_exception());
  }
}

void Group::launchStep(const Step& step) {
  const Mark mark(options_.marks, marks_.launch, step.number);
  const OnDevice current(programs_[0].gpu->ordinal);
  {
    const Mark staging(options_.marks, marks_.feeds, step.number);
    feeds_.stage(step, [&](uint64_t earlier) { waitForStep(earlier); });
  }
  pinFetches(step);
  if (step.traced) {
    stamps_ = stamps_ != nullptr ? std::move(stamps_)
                                 : std::make_unique<Stamps>(*plan_, programs_, gpus_, library_);
    if (const auto old = Stamps::stepToTakeOut(step.number)) {
      waitForStep(*old);
      stamps_->takeOut(*old);
    }
    stamps_->launched(step.number);
  }
  feeds_.awaitOn(launchStream_);
  if (options_.graphs) {
    launchGraph(step);
  } else {
    enqueueStep(step, launchStream_, nullptr);
  }
  watcher_->launched(step.number + 1);
}

// Ends a step that is not launched. After a failure no step computes, but the progress words must still reach
// their final values in order: first those of the earlier steps, then this step's, and with them the step
// counter in GPU memory, on which the end of the next step is based. `error`: why this step could not be
// launched; null if an earlier step failed.
void Group::skipStep(const Step& step, std::exception_ptr error) {
  if (error) {
    board_->fail(step.number, std::move(error)); // first, so that the GPU waits for no host queue
  }
  drainStreams();
  ignore(setStepCount(step.number + 1));
  fail(step.number, nullptr);
}

cudaError_t Group::setStepCount(uint64_t steps) const {
  *stepCounter() = steps;
  if (peerWords_.used()) {
    return peerWords_.setStepCount(steps);
  }
  return ownCounter_ != nullptr ? cudaMemcpy(ownCounter_, &steps, sizeof(steps), cudaMemcpyHostToDevice)
                                : cudaSuccess;
}

// Fetch buffers come from a pool, so that soon all are pinned. A buffer that cannot be pinned is copied to as
// pageable memory.
void Group::pinFetches(const Step& step) {
  for (const StreamProgram& program : programs_) {
    for (const StreamCommand& command : program.commands) {
      if (command.copy.to.base == Location::Base::Fetch) {
        pins_.pin(step.fetches[command.copy.to.buffer], command.copy.to.bytes);
      }
    }
  }
}

void Group::waitForStep(uint64_t step) const {
  const Mark mark(options_.marks, marks_.wait, step);
  static const std::atomic<bool> never{false};
  for (const StreamProgram& program : programs_) {
    (*board_)[program.queue.index()].wait(program.commands.size() * (step + 1), never, board_->spins());
  }
}

void Group::launchGraph(const Step& step) {
  Captured& captured = step.traced ? traced_ : plain_;
  if (captured.exec == nullptr) {
    captured = capture(step);
  }
  patch(captured, step);
  check(cudaGraphLaunch(captured.exec, launchStream_), "launching a step's CUDA graph");
}

void Group::patch(const Captured& captured, const Step& step) const {
  for (const Patch& patch : captured.patches) {
    check(cudaGraphExecMemcpyNodeSetParams1D(captured.exec, patch.node,
                                             addressOf(patch.copy->to, patch.ordinal, step),
                                             addressOf(patch.copy->from, patch.ordinal, step),
                                             static_cast<size_t>(patch.copy->from.bytes), cudaMemcpyDefault),
          "pointing a copy at this step's buffers");
  }
  for (const WordPatch& patch : captured.wordPatches) {
    const OnDevice current(patch.ordinal);
    streamMemory_.update(captured.exec, patch.node, patch.operations, step.number);
  }
}

void Group::drainStreams() {
  if (launchStream_ != nullptr) {
    ignore(cudaStreamSynchronize(launchStream_));
    for (const QueueStream& stream : streams_) {
      ignore(cudaStreamSynchronize(stream.handle));
    }
  }
}

std::vector<Span> Group::takeSpans() {
  if (launcher_ != nullptr) {
    launcher_->waitIdle(); // the step that it launched may have ended before the call returned
  }
  return stamps_ != nullptr ? stamps_->takeSpans() : std::vector<Span>{};
}

cudaError_t Group::failureOfAny() const {
  const auto failureOf = [](cudaStream_t stream) {
    const cudaError_t code = cudaStreamQuery(stream);
    return code == cudaErrorNotReady ? cudaSuccess : code;
  };
  cudaError_t failure = failureOf(launchStream_);
  for (size_t i = 0; i < streams_.size() && failure == cudaSuccess; ++i) {
    const OnDevice current(programs_[i].gpu->ordinal);
    failure = failureOf(streams_[i].handle);
  }
  return failure;
}

// On the watcher's thread.
bool Group::look(uint64_t steps) {
  if (!inFlight(steps)) {
    return true;
  }
  const cudaError_t code = failureOfAny();
  if (code == cudaSuccess) {
    return false;
  }
  std::atomic_ref<uint64_t>(*reinterpret_cast<uint64_t*>(stop_.get())).store(1, std::memory_order_release);
  try {
    check(code, whereIs(*plan_, programs_.front().queue, OpId()) +
                    " or a queue launched with it: a step failed on the GPU");
  } catch (const MachineError&) {
    fail(steps - 1, std::current_exception());
  }
  return true;
}

void Group::fail(uint64_t step, std::exception_ptr error) {
  if (error) {
    board_->fail(step, std::move(error));
  }
  for (const StreamProgram& program : programs_) {
    (*board_)[program.queue.index()].publish(program.commands.size() * (step + 1));
  }
}

} // namespace dfc::cuda
