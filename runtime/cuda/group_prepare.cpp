// Preparation before the first step: streams and events, the order of commands, pinned words and buffers.
#include "ir/plan/executable_parts.h"
#include "runtime/cuda/group.h"
#include "runtime/cuda/launches/peer_programs.h"
#include "runtime/cuda/nvtx_marks.h"
#include "runtime/queues_with_programs.h"

#include <algorithm>

namespace dfc::cuda {

size_t Group::queuesToLoad() const {
  const std::vector<QueueId> queues = queuesWithPrograms(*plan_);
  return static_cast<size_t>(llvm::count_if(queues, [&](QueueId queue) {
    const DeviceId device = plan_->schedule().queues[queue].device;
    return llvm::any_of(gpus_,
                        [&](const Gpu& gpu) { return gpu.name == plan_->machine().devices[device].name; });
  }));
}

void Group::preparePrograms() {
  const PeerReads lowered = peerReads();
  scheduleOrder_ = lowered.order;
  std::vector<Program> planned;
  for (Loaded& loaded : loaded_) {
    planned.push_back(std::move(loaded.program));
  }
  const std::vector<Program> programs = withPeerReads(*plan_, lowered, planned, *board_);
  programs_.clear();
  for (size_t i = 0; i < loaded_.size(); ++i) {
    programs_.push_back(prepareProgram(*plan_, planned[i], programs[i], *loaded_[i].gpu, sharedParts()));
  }
}

PeerReads Group::peerReads() const {
  SideTable<DeviceId, int> ordinals(plan_->machine().devices.size(), -1);
  for (const Loaded& loaded : loaded_) {
    ordinals[plan_->schedule().queues[loaded.program.queue].device] = loaded.gpu->ordinal;
  }
  const auto reaches = [&](DeviceId reader, DeviceId owner) {
    const int from = ordinals[reader], to = ordinals[owner];
    return from >= 0 && to >= 0 && peers_.direct(from, to) && peers_.direct(to, from);
  };
  return lowerPeerReads(*plan_,
                        options_.peerReads ? choosePeerReads(*plan_, reaches) : std::vector<PeerRead>());
}

void Group::prepare() {
  DFC_ASSERT(programs_.size() == loaded_.size(), "all queues are loaded before the first step");
  const auto words = static_cast<int64_t>(board_->size() * sizeof(ProgressWord));
  if (!pins_.pin(reinterpret_cast<std::byte*>(&(*board_)[0]), words)) {
    throw MachineError(
        "the session's progress words cannot be pinned; raise the limit on locked memory (ulimit -l)");
  }
  streams_.clear();
  programOf_.assign(board_->size(), -1);
  for (size_t i = 0; i < programs_.size(); ++i) {
    programOf_[programs_[i].queue.index()] = static_cast<int>(i);
  }
  feeds_.make(programs_); // these two may fail and come first: the next step then tries all of this again
  makeEnds();
  const auto ids = plan_->schedule().steps.ids();
  tracedOrder_ = orderOf(std::vector<StepId>(ids.begin(), ids.end()));
  order_ = orderOf(scheduleOrder_);
  makeStreams();
  findPublications();
  watcher_ = std::make_unique<Watcher>([this](uint64_t steps) { return look(steps); });
  const bool oneGpu = std::all_of(programs_.begin(), programs_.end(), [&](const StreamProgram& program) {
    return program.gpu == programs_[0].gpu;
  });
  if (!oneGpu) {
    launcher_ = std::make_unique<Launcher>([this](const Step& step) { execute(step); });
  }
}

// Enqueues in a topological order of all steps under every wait, those of queues outside the group included.
// CUDA may run the branches of a graph one after another; this order cannot deadlock even then, since every
// command that a host queue needs precedes the commands that wait for that queue.
std::vector<Group::CommandIndex> Group::orderOf(llvm::ArrayRef<StepId> steps) const {
  std::vector<CommandIndex> order;
  std::vector<size_t> next(programs_.size());
  const auto take = [&](size_t program, const auto& until) {
    const auto& commands = programs_[program].commands;
    while (next[program] < commands.size() && until(commands[next[program]])) {
      order.emplace_back(program, next[program]++);
    }
  };
  const auto isCopyOfFetch = [](const StreamCommand& command) { return !command.step.valid(); };
  for (const StepId step : steps) {
    const int program = programOf_[plan_->schedule().steps[step].queue.index()];
    if (program >= 0) {
      const auto own = static_cast<size_t>(program);
      take(own, [&](const StreamCommand& command) { return command.step == step; });
      take(own, isCopyOfFetch);
    }
  }
  for (size_t i = 0; i < programs_.size(); ++i) {
    take(i, isCopyOfFetch);
    DFC_ASSERT(next[i] == programs_[i].commands.size(),
               "the schedule's steps are in an order that every queue keeps");
  }
  return order;
}

void Group::makeStreams() {
  const auto newEvent = [] {
    cudaEvent_t event = nullptr;
    check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "making an event");
    return event;
  };
  const auto newStream = [] {
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
    return stream;
  };
  for (const StreamProgram& program : programs_) {
    const OnDevice current(program.gpu->ordinal);
    QueueStream& stream = streams_.emplace_back();
    stream.handle = newStream();
    nameStream(stream.handle, plan_->schedule().nameOf(program.queue, plan_->machine()));
    stream.joined = newEvent();
    stream.ended.resize(program.commands.size());
    stream.published.resize(program.commands.size());
    stream.endedCrossed.resize(program.commands.size());
  }
  for (const StreamProgram& program : programs_) {
    for (const StreamCommand& command : program.commands) {
      for (const bool traced : {false, true}) {
        for (const WaitFor& wait : command.waitsOf(traced)) {
          if (inGroup(wait) && wait.offset > 0) {
            const auto other = static_cast<size_t>(programOf_[queueOf(wait)]);
            const OnDevice current(programs_[other].gpu->ordinal);
            cudaEvent_t& event = streams_[other].ended[wait.offset - 1];
            event = event != nullptr ? event : newEvent();
          }
        }
      }
    }
  }
  const OnDevice current(programs_[0].gpu->ordinal);
  launchStream_ = newStream();
  forked_ = newEvent();
}

size_t Group::queueOf(const WaitFor& wait) const { return static_cast<size_t>(wait.word - &(*board_)[0]); }
bool Group::inGroup(const WaitFor& wait) const { return programOf_[queueOf(wait)] >= 0; }

// Marks the commands that publish their ends at once: those that a queue outside the group waits for, and the
// copies of fetched values. The end of the step, after all queues, publishes a queue's last command again.
void Group::findPublications() {
  const Schedule& schedule = plan_->schedule();
  const auto awaited = awaitedSteps(schedule.steps.size(), [&](StepId step) -> llvm::ArrayRef<StepId> {
    const StepRow& row = schedule.steps[step];
    if (programOf_[row.queue.index()] >= 0) {
      return {};
    }
    return row.waits;
  });
  for (size_t i = 0; i < programs_.size(); ++i) {
    const auto& commands = programs_[i].commands;
    for (size_t position = 0; position < commands.size(); ++position) {
      const StreamCommand& command = commands[position];
      streams_[i].published[position] =
          (command.step.valid() && awaited[command.step]) || command.copy.to.base == Location::Base::Fetch;
    }
  }
}

void Group::makeEnds() {
  ends_.clear();
  for (const StreamProgram& program : programs_) {
    auto* word = reinterpret_cast<uint64_t*>(&(*board_)[program.queue.index()].handToDevice());
    ends_.push_back({word, program.commands.size(), 0});
  }
  ownCounter_ = DeviceBuffer(programs_[0].gpu->ordinal, sizeof(uint64_t), "the number of steps");
  check(setStepCount(*stepCounter()), "counting steps");
}

} // namespace dfc::cuda
