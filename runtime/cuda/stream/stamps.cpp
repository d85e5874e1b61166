#include "runtime/cuda/stream/stamps.h"

#include "ir/plan/executable_parts.h"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>

namespace dfc::cuda {

Stamps::Stamps(const Executable& plan, const std::vector<StreamProgram>& programs,
               const std::vector<Gpu>& gpus, KernelLibrary& library)
    : schedule_(plan.schedule()), peerReads_(plan.launches().peers.reads), replaced_(schedule_.steps.size()),
      programs_(programs), gpus_(gpus), library_(library) {
  for (const PeerRead& read : peerReads_) {
    replaced_[read.transfer] = true;
  }
  for (const StreamProgram& program : programs) {
    items_.push_back(itemsOf(program));
    first_.push_back(perStep_);
    perStep_ += 2 * static_cast<uint32_t>(items_.back().list.size());
  }
  slots_ = PinnedBuffer(int64_t{ring} * perStep_ * static_cast<int64_t>(sizeof(uint64_t)));
  firstClocks_ = readClocks();
}

Stamps::Items Stamps::itemsOf(const StreamProgram& program) const {
  const auto& launches = program.computing.launches;
  SideTable<OpId, size_t> lastLaunch(schedule_.stepOf.size(), launches.size());
  for (size_t i = 0; i < launches.size(); ++i) {
    for (const OpId op : launches[i].row->ops) {
      lastLaunch[op] = i;
    }
  }
  Items items;
  items.ofCommand.resize(program.commands.size(), none);
  bool follows = false; // whether nothing was enqueued since the last stamped item
  const auto addStamped = [&](llvm::SmallVector<StepId, 1> steps, bool partial) {
    items.list.push_back({std::move(steps), true, follows, partial});
    follows = true;
  };
  // A command without work has the time of the item before, unless it waits or nothing comes before.
  const auto addIdle = [&](const StreamCommand& command) {
    const bool stamped = !follows || !command.waits.empty();
    items.list.push_back({{command.step}, stamped, false, false});
    follows = follows || stamped;
  };
  for (size_t position = 0; position < program.commands.size(); ++position) {
    const StreamCommand& command = program.commands[position];
    follows = follows && command.waits.empty();
    for (size_t i = program.firstAt[position]; i < program.firstAt[position + 1]; ++i) {
      llvm::SmallVector<StepId, 1> steps;
      for (const OpId op : launches[i].row->ops) {
        if (lastLaunch[op] == i) {
          steps.push_back(schedule_.stepOf[op]);
        }
      }
      llvm::sort(steps, [&](StepId a, StepId b) {
        return schedule_.steps[a].position < schedule_.steps[b].position;
      });
      items.ofLaunch.push_back(items.list.size());
      const bool partial = steps.empty();
      addStamped(std::move(steps), partial);
    }
    if (command.copies()) {
      items.ofCommand[position] = items.list.size();
      addStamped(command.step.valid() ? llvm::SmallVector<StepId, 1>{command.step}
                                      : llvm::SmallVector<StepId, 1>{},
                 false);
    } else if (command.step.valid() && lastLaunch[command.op] == launches.size() &&
               !replaced_[command.step]) {
      items.ofCommand[position] = items.list.size();
      addIdle(command);
    }
  }
  return items;
}

std::vector<ClockReading> Stamps::readClocks() const {
  std::vector<ClockReading> readings;
  for (const Gpu& gpu : gpus_) {
    const OnDevice current(gpu.ordinal);
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "reading " + gpu.name + "'s clock");
    readings.push_back(readClock(library_, gpu.architecture, stream));
    ignore(cudaStreamDestroy(stream));
  }
  return readings;
}

void Stamps::begin(const Signals& signals, cudaStream_t stream, size_t program, size_t item) const {
  if (!items_[program].list[item].chained) {
    signals.stamp(stream, reinterpret_cast<uint64_t*>(slots_.get()), ring, perStep_, slotOf(program, item),
                  /*afterKernel=*/false);
  }
}

void Stamps::end(const Signals& signals, cudaStream_t stream, size_t program, size_t item,
                 bool afterKernel) const {
  signals.stamp(stream, reinterpret_cast<uint64_t*>(slots_.get()), ring, perStep_, slotOf(program, item) + 1,
                afterKernel);
}

void Stamps::mark(const Signals& signals, cudaStream_t stream, size_t program, size_t position) const {
  const size_t item = itemOfCommand(program, position);
  if (item != none && items_[program].list[item].stamped) {
    begin(signals, stream, program, item);
    end(signals, stream, program, item, /*afterKernel=*/false);
  }
}

std::optional<uint64_t> Stamps::stepToTakeOut(uint64_t step) {
  return step >= ring ? std::optional(step - ring) : std::nullopt;
}

void Stamps::takeOut(uint64_t throughStep) {
  auto* slots = reinterpret_cast<uint64_t*>(slots_.get());
  while (!waiting_.empty() && waiting_.front() <= throughStep) {
    const uint64_t step = waiting_.front();
    waiting_.erase(waiting_.begin());
    const size_t firstRaw = raw_.size();
    for (size_t program = 0; program < programs_.size(); ++program) {
      takeOut(program, step, slots + (step % ring) * perStep_ + first_[program]);
    }
    addReplaced(step, firstRaw);
  }
}

// A launch whose ops all end with later launches begins the next one.
void Stamps::takeOut(size_t program, uint64_t step, uint64_t* slots) {
  const auto& items = items_[program].list;
  uint64_t last = 0;
  std::optional<uint64_t> first; // begin of launches that end no op
  for (size_t i = 0; i < items.size(); ++i) {
    uint64_t begin = items[i].chained ? last : slots[2 * i];
    const uint64_t end = slots[2 * i + 1];
    slots[2 * i] = slots[2 * i + 1] = 0;
    if (!items[i].stamped) {
      addSpans(program, items[i], step, last, last);
      continue;
    }
    if (begin == 0 || end == 0) { // a failed step did not reach it
      return;
    }
    begin = first && items[i].chained ? *first : begin;
    first = items[i].partial ? std::optional(begin) : std::nullopt;
    addSpans(program, items[i], step, begin, end);
    last = end;
  }
}

void Stamps::addReplaced(uint64_t step, size_t firstRaw) {
  for (const PeerRead& read : peerReads_) {
    const auto reader = std::find_if(raw_.begin() + static_cast<ptrdiff_t>(firstRaw), raw_.end(),
                                     [&](const RawSpan& raw) { return raw.step == read.reader; });
    if (reader != raw_.end()) {
      const RawSpan at = *reader; // adding moves it
      raw_.push_back({at.program, read.transfer, static_cast<uint32_t>(step), at.begin, at.begin});
    }
  }
}

void Stamps::addSpans(size_t program, const Item& item, uint64_t step, uint64_t begin, uint64_t end) {
  double all = 0, before = 0;
  for (const StepId one : item.steps) {
    all += schedule_.steps[one].alone();
  }
  const auto count = static_cast<double>(item.steps.size());
  const auto length = static_cast<double>(end - begin);
  uint64_t from = begin;
  for (const StepId one : item.steps) {
    before += all > 0 ? schedule_.steps[one].alone() / all : 1 / count;
    const uint64_t to = one == item.steps.back() ? end : begin + static_cast<uint64_t>(before * length);
    raw_.push_back({program, one, static_cast<uint32_t>(step), from, to});
    from = to;
  }
}

std::vector<Span> Stamps::takeSpans() {
  takeOut(~uint64_t{0});
  const std::vector<ClockReading> clocks = readClocks();
  std::vector<Span> spans;
  for (const RawSpan& raw : std::exchange(raw_, {})) {
    const auto gpu = static_cast<size_t>(programs_[raw.program].gpu - gpus_.data());
    const auto onHost = [&](uint64_t time) { return hostTime(time, firstClocks_[gpu], clocks[gpu]); };
    spans.push_back({raw.step, raw.stepNumber, onHost(raw.begin), onHost(raw.end)});
  }
  return spans;
}

} // namespace dfc::cuda
