// What is settled once, before the first round: streams, who waits for whom, pinned words and buffers.
#include "runtime/cuda/group.h"

#include <algorithm>

namespace dfc::cuda {
namespace {

cudaEvent_t newEvent() {
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "making an event");
  return event;
}

cudaStream_t newStream() {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
  return stream;
}

} // namespace

void Group::prepare() {
  DFC_ASSERT(!programs_.empty(), "a group without queues is never launched");
  const auto words = static_cast<int64_t>(board_->size() * sizeof(ProgressWord));
  if (!pins_.pin(reinterpret_cast<std::byte*>(&(*board_)[0]), words)) {
    throw MachineError(
        "the session's progress words cannot be pinned; raise the limit on locked memory (ulimit -l)");
  }
  programOf_.assign(board_->size(), -1);
  for (size_t i = 0; i < programs_.size(); ++i) {
    programOf_[programs_[i].queue.index()] = static_cast<int>(i);
  }
  makeOrder();
  makeSites();
  makeLanes();
  makeEvents();
  findWhoIsTold();
  makeRings();
  for (size_t i = 0; i < sites_.size(); ++i) {
    makeEnds(i);
  }
  watcher_ = std::make_unique<Watcher>([this](uint64_t rounds) { return look(rounds); });
}

// In the order of the schedule's steps, which respects every wait, those of and for other queues too. CUDA
// may run branches of a graph one after another; in this order even a single file of all of them comes to its
// end, since whatever a host queue needs comes before what waits for that queue.
void Group::makeOrder() {
  std::vector<size_t> next(programs_.size());
  const auto take = [&](size_t program, const auto& until) {
    const auto& commands = programs_[program].commands;
    while (next[program] < commands.size() && until(commands[next[program]])) {
      order_.emplace_back(program, next[program]++);
    }
  };
  const auto isCopyOfFetch = [](const StreamCommand& command) { return !command.step.valid(); };
  for (const StepId step : plan_->schedule().steps.ids()) {
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
}

// GPUs write one another's words straight if each may, and through the host's memory if any may not.
void Group::makeSites() {
  const bool near = peers_.warnings().empty();
  const auto bytes = static_cast<int64_t>(board_->size() * sizeof(uint64_t));
  for (const StreamProgram& program : programs_) {
    const auto index = static_cast<size_t>(program.gpu - gpus_.data());
    Site& site = sites_[index];
    if (site.stream != nullptr) {
      continue;
    }
    const OnDevice current(program.gpu->ordinal);
    site.stream = newStream();
    site.forked = newEvent();
  }
  for (size_t i = 0; i < sites_.size(); ++i) {
    Site& site = sites_[i];
    const OnDevice current(gpus_[i].ordinal);
    if (near) {
      site.nearWords = DeviceBuffer(gpus_[i].ordinal, bytes, "progress words");
      check(cudaMemset(site.nearWords.get(), 0, static_cast<size_t>(bytes)), "clearing progress words");
      check(cudaDeviceSynchronize(), "clearing progress words");
    } else {
      site.farWords = PinnedBuffer(bytes);
    }
    site.words = reinterpret_cast<uint64_t*>(near ? site.nearWords.get() : site.farWords.get());
  }
}

void Group::makeLanes() {
  for (const StreamProgram& program : programs_) {
    const OnDevice current(program.gpu->ordinal);
    Lane& lane = lanes_.emplace_back();
    lane.stream = newStream();
    lane.joined = newEvent();
    lane.ended.resize(program.commands.size());
    lane.told.resize(program.commands.size());
  }
}

// For the waits of streams for one another on one GPU.
void Group::makeEvents() {
  for (size_t i = 0; i < programs_.size(); ++i) {
    const OnDevice current(programs_[i].gpu->ordinal);
    for (const StreamCommand& command : programs_[i].commands) {
      for (const WaitFor& wait : command.waits) {
        const int other = programOf(wait);
        if (other >= 0 && siteOf(static_cast<size_t>(other)) == siteOf(i) && wait.offset > 0) {
          cudaEvent_t& event = lanes_[static_cast<size_t>(other)].ended[wait.offset - 1];
          event = event != nullptr ? event : newEvent();
        }
      }
    }
  }
}

size_t Group::queueOf(const WaitFor& wait) const { return static_cast<size_t>(wait.word - &(*board_)[0]); }
int Group::programOf(const WaitFor& wait) const { return programOf_[queueOf(wait)]; }
size_t Group::siteOf(size_t program) const {
  return static_cast<size_t>(programs_[program].gpu - gpus_.data());
}

// The host is told of commands that a queue of another backend waits for, and of those that bring the caller
// a fetched value; another GPU, of those that a queue of it waits for.
void Group::findWhoIsTold() {
  const Schedule& schedule = plan_->schedule();
  SideTable<StepId, bool> awaited(schedule.steps.size());
  for (const StepRow& step : schedule.steps) {
    if (programOf_[step.queue.index()] < 0) {
      for (const StepId wait : step.waits) {
        awaited[wait] = true;
      }
    }
  }
  for (size_t i = 0; i < programs_.size(); ++i) {
    auto* word = reinterpret_cast<uint64_t*>(&(*board_)[programs_[i].queue.index()].handToDevice());
    const auto& commands = programs_[i].commands;
    for (size_t position = 0; position < commands.size(); ++position) {
      const StreamCommand& command = commands[position];
      if ((command.step.valid() && awaited[command.step]) || command.copy.to.base == Location::Base::Fetch) {
        lanes_[i].told[position].push_back(word);
      }
      for (const WaitFor& wait : command.waits) {
        const int other = programOf(wait);
        if (other >= 0 && siteOf(static_cast<size_t>(other)) != siteOf(i) && wait.offset > 0) {
          auto& told = lanes_[static_cast<size_t>(other)].told[wait.offset - 1];
          uint64_t* there = sites_[siteOf(i)].words + queueOf(wait);
          if (std::find(told.begin(), told.end(), there) == told.end()) {
            told.push_back(there);
          }
        }
      }
    }
  }
}

void Group::makeRings() {
  for (const StreamProgram& program : programs_) {
    for (const StreamCommand& command : program.commands) {
      const Location& from = command.copy.from;
      const bool known = std::any_of(rings_.begin(), rings_.end(),
                                     [&](const FeedRing& ring) { return ring.feed == from.buffer; });
      if (from.base == Location::Base::Feed && !known) {
        constexpr int64_t slots = 4; // feedSlots of group.cpp
        rings_.push_back({from.buffer, from.bytes, PinnedBuffer(slots * from.bytes)});
      }
    }
  }
}

// The end of a GPU's round ends the rounds of all its queues, for the host and for the other GPUs.
void Group::makeEnds(size_t site) {
  std::vector<DevicePublication> rows;
  for (size_t i = 0; i < programs_.size(); ++i) {
    if (siteOf(i) != site) {
      continue;
    }
    const size_t queue = programs_[i].queue.index();
    const uint64_t commands = programs_[i].commands.size();
    rows.push_back({reinterpret_cast<uint64_t*>(&(*board_)[queue].handToDevice()), commands, commands});
    for (size_t other = 0; other < sites_.size(); ++other) {
      if (other != site) {
        rows.push_back({sites_[other].words + queue, commands, commands});
      }
    }
  }
  sites_[site].ends = PinnedBuffer(static_cast<int64_t>(rows.size() * sizeof(DevicePublication)));
  sites_[site].endCount = static_cast<int>(rows.size());
  std::copy(rows.begin(), rows.end(), reinterpret_cast<DevicePublication*>(sites_[site].ends.get()));
}

} // namespace dfc::cuda
