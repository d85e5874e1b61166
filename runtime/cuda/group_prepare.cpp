// Preparation before the first step: kernels, streams and events, the order of commands, pinned words and
// buffers.
#include "ir/plan/executable_parts.h"
#include "runtime/cuda/arena.h"
#include "runtime/cuda/group.h"
#include "runtime/cuda/nvtx_marks.h"
#include "runtime/cuda/stream/peer_programs.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc::cuda {
namespace {

/// The plan's steps in a topological order of their waits.
std::vector<StepId> stepOrder(const Executable& plan) {
  const Schedule& schedule = plan.schedule();
  if (!plan.launches().peers.reads.empty()) {
    return orderOf(schedule, plan.launches().peers.waits);
  }
  const auto ids = schedule.steps.ids();
  return {ids.begin(), ids.end()};
}

} // namespace

void Group::load(const Executable& plan, std::vector<Program> programs, ProgressBoard& board) {
  DFC_ASSERT(programs_.empty(), "a group is loaded once");
  plan_ = &plan;
  board_ = &board;
  for (const Program& program : programs) {
    board[program.queue.index()].handToDevice(); // before any wait for it
  }
  checkLaunches(programs);
  checkPeerAccess();
  const SharedParts shared{&library_, &peers_, &pins_, options_.marks, arenasOf(programs)};
  for (const Program& program : withPeerReads(plan, std::move(programs), board)) {
    programs_.push_back(prepareProgram(plan, program, gpus_[program.device], shared));
  }
  prepareSteps();
}

void Group::checkLaunches(llvm::ArrayRef<Program> programs) const {
  for (const Program& program : programs) {
    if (plan_->launches().empty() && llvm::any_of(program.commands, [](const Command& command) {
          return command.kind == Command::Kind::Compute;
        })) {
      throw MachineError(whereIs(*plan_, program.queue, OpId()) +
                         ": the plan was sealed without launches for its GPUs; compile the graph again");
    }
  }
}

// By name: a GPU may be read that has no program, as it only holds parameters.
const Gpu* Group::gpuOf(DeviceId device) const {
  const auto found =
      llvm::find_if(gpus_, [&](const Gpu& gpu) { return gpu.name == plan_->machine().devices[device].name; });
  return found != gpus_.end() ? &*found : nullptr;
}

void Group::checkPeerAccess() const {
  const Schedule& schedule = plan_->schedule();
  for (const PeerRead& read : plan_->launches().peers.reads) {
    const TransferRow& route = plan_->placed().transfers.find(schedule.steps[read.transfer].op)->second;
    const Gpu *reader = gpuOf(route.to), *owner = gpuOf(route.from);
    if (reader == nullptr || owner == nullptr || !peers_.direct(reader->ordinal, owner->ordinal) ||
        !peers_.direct(owner->ordinal, reader->ordinal)) {
      throw MachineError(fmt::format(
          "{} reads {}'s memory in this plan, and has no access to it here; compile with --no-peer-reads, so "
          "that all that GPUs exchange is copied",
          plan_->machine().devices[route.to].name, plan_->machine().devices[route.from].name));
    }
  }
}

// Of the GPUs that compute, or exchange values.
SideTable<DeviceId, std::byte*> Group::arenasOf(llvm::ArrayRef<Program> programs) const {
  SideTable<DeviceId, std::byte*> bases(plan_->machine().devices.size());
  const auto note = [&](DeviceId device, const Location& location) {
    if (const auto* arena = location.base == Location::Base::Arena
                                ? dynamic_cast<const CudaArena*>(location.arena)
                                : nullptr) {
      bases[device] = arena->base();
    }
  };
  for (const Program& program : programs) {
    const DeviceId own = plan_->schedule().queues[program.queue].device;
    for (const Command& command : program.commands) {
      const auto transfer = plan_->placed().transfers.find(command.op);
      const bool moves = command.kind == Command::Kind::Transfer;
      for (const Location& operand : command.operands) {
        note(moves ? transfer->second.from : own, operand);
      }
      for (const Location& result : command.results) {
        note(moves ? transfer->second.to : own, result);
      }
    }
  }
  return bases;
}

void Group::prepareSteps() {
  pinWords();
  programOf_.assign(board_->size(), -1);
  for (size_t i = 0; i < programs_.size(); ++i) {
    programOf_[programs_[i].queue.index()] = static_cast<int>(i);
  }
  feeds_.make(programs_);
  if (options_.graphs && exchangeByWords(*plan_, programs_, peers_)) {
    peerWords_ = PeerWords(programs_);
  }
  makeEnds();
  order_ = orderOf(stepOrder(*plan_));
  makeStreams();
  findPublications();
  startThreads();
}

void Group::pinWords() {
  const auto words = static_cast<int64_t>(board_->size() * sizeof(ProgressWord));
  if (!pins_.pin(reinterpret_cast<std::byte*>(&(*board_)[0]), words)) {
    throw MachineError(
        "the session's progress words cannot be pinned; raise the limit on locked memory (ulimit -l)");
  }
}

void Group::startThreads() {
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
    stream.peerWrites.resize(program.commands.size());
    stream.endedCrossed.resize(program.commands.size());
  }
  makePeerWrites();
  for (size_t i = 0; i < programs_.size(); ++i) {
    for (const StreamCommand& command : programs_[i].commands) {
      for (const WaitFor& wait : command.waits) {
        if (inGroup(wait) && wait.offset > 0 && !byPeerWord(i, wait)) {
          const auto other = static_cast<size_t>(programOf_[queueOf(wait)]);
          const OnDevice current(programs_[other].gpu->ordinal);
          cudaEvent_t& event = streams_[other].ended[wait.offset - 1];
          event = event != nullptr ? event : newEvent();
        }
      }
    }
  }
  const OnDevice current(programs_[0].gpu->ordinal);
  launchStream_ = newStream();
  forked_ = newEvent();
}

// A command writes once for each GPU that waits for it, however many of its queues do.
void Group::makePeerWrites() {
  for (size_t i = 0; i < programs_.size(); ++i) {
    const int ordinal = programs_[i].gpu->ordinal;
    for (const StreamCommand& command : programs_[i].commands) {
      for (const WaitFor& wait : command.waits) {
        if (byPeerWord(i, wait)) {
          const auto other = static_cast<size_t>(programOf_[queueOf(wait)]);
          const DevicePublication write = peerWords_.endOf(other, wait.offset - 1, ordinal);
          auto& writes = streams_[other].peerWrites[wait.offset - 1];
          if (llvm::none_of(writes, [&](const auto& known) { return known.word == write.word; })) {
            writes.push_back(write);
          }
        }
      }
    }
  }
}

size_t Group::queueOf(const WaitFor& wait) const { return static_cast<size_t>(wait.word - &(*board_)[0]); }
bool Group::inGroup(const WaitFor& wait) const { return programOf_[queueOf(wait)] >= 0; }

// Whether a program waits for a command of another GPU, in the same step, by a word: computing queues do.
// Around copies, the kernels that write and wait would take longer than the edges of the graph.
bool Group::byPeerWord(size_t program, const WaitFor& wait) const {
  if (!peerWords_.used() || !inGroup(wait) || wait.offset == 0) {
    return false;
  }
  const StreamProgram &own = programs_[program],
                      &other = programs_[static_cast<size_t>(programOf_[queueOf(wait)])];
  return other.gpu->ordinal != own.gpu->ordinal && computes(own) && computes(other);
}

bool Group::computes(const StreamProgram& program) const {
  return plan_->schedule().queues[program.queue].kind == QueueKind::Compute;
}

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
  for (const StreamProgram& program : programs_) {
    auto* word = reinterpret_cast<uint64_t*>(&(*board_)[program.queue.index()].handToDevice());
    ends_.push_back({word, program.commands.size(), 0});
  }
  const int ending = programs_[0].gpu->ordinal;
  if (peerWords_.used()) {
    ownCounter_ = peerWords_.counterOf(ending);
    llvm::append_range(ends_, peerWords_.stepEnds(ending));
    for (const StreamProgram& program : programs_) {
      signals_[static_cast<size_t>(program.gpu - gpus_.data())].countBy(
          peerWords_.counterOf(program.gpu->ordinal));
    }
  } else {
    ownCounterBuffer_ = DeviceBuffer(ending, sizeof(uint64_t), "the number of steps");
    ownCounter_ = reinterpret_cast<uint64_t*>(ownCounterBuffer_.get());
    signals_[static_cast<size_t>(programs_[0].gpu - gpus_.data())].countBy(ownCounter_);
  }
  check(setStepCount(*stepCounter()), "counting steps");
}

} // namespace dfc::cuda
