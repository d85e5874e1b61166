#include "runtime/cuda/stream/stamps.h"

#include "ir/plan/executable_parts.h"

#include <llvm/ADT/STLExtras.h>

namespace dfc::cuda {

Stamps::Stamps(const Executable& plan, const std::vector<StreamProgram>& programs,
               const std::vector<Gpu>& gpus, KernelLibrary& library)
    : schedule_(plan.schedule()), programs_(programs), gpus_(gpus), library_(library) {
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
  items.ofCommand.resize(program.commands.size());
  bool follows = false; // whether nothing was enqueued since the last stamped item
  const auto addStamped = [&](llvm::SmallVector<StepId, 1> steps) {
    items.list.push_back({std::move(steps), true, follows});
    follows = true;
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
      addStamped(std::move(steps));
    }
    items.ofCommand[position] = items.list.size();
    if (command.copies()) {
      addStamped(command.step.valid() ? llvm::SmallVector<StepId, 1>{command.step}
                                      : llvm::SmallVector<StepId, 1>{});
    } else if (command.step.valid() && lastLaunch[command.op] == launches.size()) {
      items.list.push_back({{command.step}, false, false}); // no work
    }
  }
  if (!items.list.empty() && llvm::none_of(items.list, [](const Item& item) { return item.stamped; })) {
    items.list.front().stamped = true; // a time to order the others by
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
    signals.stamp(stream, reinterpret_cast<uint64_t*>(slots_.get()), ring, perStep_, slotOf(program, item));
  }
}

void Stamps::end(const Signals& signals, cudaStream_t stream, size_t program, size_t item) const {
  signals.stamp(stream, reinterpret_cast<uint64_t*>(slots_.get()), ring, perStep_, slotOf(program, item) + 1);
}

void Stamps::mark(const Signals& signals, cudaStream_t stream, size_t program, size_t position) const {
  const size_t item = itemOfCommand(program, position);
  if (item < items_[program].list.size() && items_[program].list[item].stamped &&
      items_[program].list[item].steps.front() == programs_[program].commands[position].step) {
    begin(signals, stream, program, item);
    end(signals, stream, program, item);
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
    for (size_t program = 0; program < programs_.size(); ++program) {
      takeOut(program, step, slots + (step % ring) * perStep_ + first_[program]);
    }
  }
}

// Items without work have no stamps: they lie at the end of the item before, the first ones at the begin of
// the one behind. A launch whose ops all end with later launches begins the next one.
void Stamps::takeOut(size_t program, uint64_t step, uint64_t* slots) {
  const auto& items = items_[program].list;
  uint64_t last = 0;
  std::optional<uint64_t> first; // begin of launches that end no op
  std::vector<const Item*> waiting;
  for (size_t i = 0; i < items.size(); ++i) {
    uint64_t begin = items[i].chained ? last : slots[2 * i];
    const uint64_t end = slots[2 * i + 1];
    slots[2 * i] = slots[2 * i + 1] = 0;
    if (!items[i].stamped) {
      last != 0 ? addSpans(program, items[i], step, last, last) : waiting.push_back(&items[i]);
      continue;
    }
    if (begin == 0 || end == 0) { // a failed step did not reach it
      return;
    }
    for (const Item* early : waiting) {
      addSpans(program, *early, step, begin, begin);
    }
    waiting.clear();
    begin = first && items[i].chained ? *first : begin;
    first = items[i].steps.empty() ? std::optional(begin) : std::nullopt;
    addSpans(program, items[i], step, begin, end);
    last = end;
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

std::vector<Span> Stamps::takeSpans(QueueId queue) {
  takeOut(~uint64_t{0});
  const std::vector<ClockReading> clocks = readClocks();
  std::vector<Span> spans;
  std::vector<RawSpan> others;
  for (const RawSpan& raw : raw_) {
    const StreamProgram& program = programs_[raw.program];
    if (program.queue != queue) {
      others.push_back(raw);
      continue;
    }
    const auto gpu = static_cast<size_t>(program.gpu - gpus_.data());
    const auto onHost = [&](uint64_t time) { return hostTime(time, firstClocks_[gpu], clocks[gpu]); };
    spans.push_back({raw.step, raw.stepNumber, onHost(raw.begin), onHost(raw.end)});
  }
  raw_ = std::move(others);
  return spans;
}

} // namespace dfc::cuda
