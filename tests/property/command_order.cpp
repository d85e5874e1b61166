// The programs of `resolve` as one list with edges, and topological sorts of it (Kahn 1962).
#include "tests/property/command_order.h"
#include "ir/plan/executable_parts.h"

#include <algorithm>
#include <map>
#include <set>

namespace dfc::test {

/// Memory that is only a name.
struct CommandOrder::PaperArena final : public Arena {
  explicit PaperArena(bool reachable) : reachable_(reachable) {}
  std::byte* hostAddress() override { return reachable_ ? &base_ : nullptr; }
  void write(int64_t /*offset*/, std::span<const std::byte> /*bytes*/) override {}
  void read(int64_t /*offset*/, std::span<std::byte> /*bytes*/) override {}

 private:
  bool reachable_;
  std::byte base_{};
};

CommandOrder::~CommandOrder() = default;

CommandOrder::CommandOrder(const Executable& plan) : rowOf_(plan.schedule().steps.size(), 0) {
  SideTable<DeviceId, Arena*> byDevice(plan.machine().devices.size());
  for (const DeviceId device : plan.machine().devices.ids()) {
    const bool reachable = plan.machine().devices[device].kind == DeviceKind::Cpu;
    arenas_.push_back(std::make_unique<PaperArena>(reachable));
    byDevice[device] = arenas_.back().get();
  }
  const ProgressBoard board(plan.schedule().queues.size(), 0);
  const ResolvedPlan resolved = resolve(plan, byDevice, board);
  fetches_ = resolved.fetches.size();
  addRows(resolved.programs, board);
}

void CommandOrder::addRows(const std::vector<Program>& programs, const ProgressBoard& board) {
  std::map<const ProgressWord*, CommandIndex> firstOf;
  CommandIndex first = 0;
  for (const Program& program : programs) {
    firstOf[&board[program.queue.index()]] = first;
    first += static_cast<CommandIndex>(program.commands.size());
  }
  for (const Program& program : programs) {
    uint32_t step = 0;
    for (size_t i = 0; i < program.commands.size(); ++i) {
      const Command& command = program.commands[i];
      Row row{program.queue, i, program.commands.size(), command, {}};
      if (i > 0) {
        row.before.push_back(static_cast<CommandIndex>(rows_.size()) - 1);
      }
      for (const WaitFor& wait : command.waits) {
        if (wait.offset > 0) { // 0 is the end of the step before
          row.before.push_back(firstOf.at(wait.word) + static_cast<CommandIndex>(wait.offset) - 1);
        }
      }
      if (command.step.valid()) {
        step = command.step.index();
        rowOf_[command.step] = static_cast<CommandIndex>(rows_.size());
      }
      stepOf_.push_back(step);
      rows_.push_back(std::move(row));
    }
  }
}

DeviceId CommandOrder::deviceOf(const Arena* arena) const {
  const auto found =
      std::find_if(arenas_.begin(), arenas_.end(), [&](const auto& other) { return other.get() == arena; });
  DFC_ASSERT(found != arenas_.end(), "an arena of another plan");
  return DeviceId(static_cast<uint32_t>(found - arenas_.begin()));
}

std::vector<bool> CommandOrder::ancestorsOf(CommandIndex command) const {
  std::vector<bool> found(rows_.size());
  std::vector<CommandIndex> open{command};
  while (!open.empty()) {
    const CommandIndex next = open.back();
    open.pop_back();
    if (!found[next]) {
      found[next] = true;
      open.insert(open.end(), rows_[next].before.begin(), rows_[next].before.end());
    }
  }
  return found;
}

std::vector<bool> CommandOrder::descendantsOf(CommandIndex command) const {
  std::vector<bool> found(rows_.size());
  for (const CommandIndex next : bySteps()) {
    const std::vector<CommandIndex>& before = rows_[next].before;
    found[next] = next == command ||
                  std::any_of(before.begin(), before.end(), [&](CommandIndex other) { return found[other]; });
  }
  return found;
}

/// Those in `first`, whose predecessors are in it too, before all others; otherwise by step.
Sequence CommandOrder::inStages(const std::vector<bool>& first) const {
  std::vector<size_t> missing(rows_.size());
  std::vector<std::vector<CommandIndex>> after(rows_.size());
  std::set<std::tuple<bool, uint32_t, CommandIndex>> ready;
  const auto enter = [&](CommandIndex i) { ready.insert({!first[i], stepOf_[i], i}); };
  for (CommandIndex i = 0; i < rows_.size(); ++i) {
    missing[i] = rows_[i].before.size();
    for (const CommandIndex other : rows_[i].before) {
      after[other].push_back(i);
    }
    if (missing[i] == 0) {
      enter(i);
    }
  }
  Sequence sequence;
  while (!ready.empty()) {
    sequence.push_back(std::get<2>(*ready.begin()));
    ready.erase(ready.begin());
    for (const CommandIndex next : after[sequence.back()]) {
      if (--missing[next] == 0) {
        enter(next);
      }
    }
  }
  DFC_ASSERT(sequence.size() == rows_.size(), "commands wait for one another in a circle");
  return sequence;
}

Sequence CommandOrder::bySteps() const { return inStages(std::vector<bool>(rows_.size(), true)); }

Sequence CommandOrder::early(StepId step) const { return inStages(ancestorsOf(rowOf_[step])); }

Sequence CommandOrder::late(StepId step) const {
  std::vector<bool> others = descendantsOf(rowOf_[step]);
  others.flip();
  return inStages(others);
}

} // namespace dfc::test
