#include "runtime/cuda/stream/stream_program.h"

#include "ir/plan/executable_parts.h"
#include "runtime/cuda/arena.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace dfc::cuda {
namespace {

/// "scope/a, b": of all ops of a launch.
std::string markTextOf(const Executable& plan, const LaunchRow& row) {
  std::vector<std::string> texts;
  for (const OpId op : row.ops) {
    texts.push_back(markText(plan.graph(), op));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

QueueId queueIn(const LaunchRow& row) { return row.queue; }
QueueId queueIn(QueueId queue) { return queue; }

/// The plan's launches of a queue.
llvm::ArrayRef<LaunchRow> launchesOf(const LaunchPlan& plan, QueueId queue) {
  const auto [first, last] =
      std::equal_range(plan.launches.begin(), plan.launches.end(), queue,
                       [](const auto& a, const auto& b) { return queueIn(a) < queueIn(b); });
  return {plan.launches.data() + (first - plan.launches.begin()), static_cast<size_t>(last - first)};
}

class Preparer {
 public:
  Preparer(const Executable& plan, const Program& program, const Gpu& gpu, const SharedParts& shared)
      : plan_(plan), source_(program), shared_(shared) {
    program_.queue = program.queue;
    program_.gpu = &gpu;
  }

  StreamProgram run() {
    for (const Command& command : source_.commands) {
      located(plan_, source_.queue, command.op, [&] { add(command); });
    }
    located(plan_, source_.queue, OpId(), [&] { addLaunches(); });
    return std::move(program_);
  }

 private:
  void addLaunches() {
    const LaunchPlan& plan = plan_.launches();
    const llvm::ArrayRef<LaunchRow> rows = launchesOf(plan, program_.queue);
    program_.firstAt.assign(program_.commands.size() + 1, 0);
    if (rows.empty()) {
      return;
    }
    const Gpu& gpu = *program_.gpu;
    program_.computing =
        makeLaunches(plan_.graph(), plan, rows, plan.workspaceBytes[program_.queue],
                     {gpu.ordinal, gpu.architecture, shared_.library, shared_.arenas, source_.arenas});
    SideTable<OpId, uint32_t> positions(plan_.graph().opCount());
    for (uint32_t i = 0; i < program_.commands.size(); ++i) {
      if (program_.commands[i].step.valid()) {
        positions[program_.commands[i].op] = i;
      }
    }
    for (const ComputeLaunch& launch : program_.computing.launches) {
      ++program_.firstAt[positions[launch.row->at] + 1];
      program_.marks.push_back(shared_.marks != nullptr ? shared_.marks->name(markTextOf(plan_, *launch.row))
                                                        : nullptr);
    }
    std::partial_sum(program_.firstAt.begin(), program_.firstAt.end(), program_.firstAt.begin());
  }

  void add(const Command& command) {
    StreamCommand& made = program_.commands.emplace_back();
    made.kind = command.kind;
    made.step = command.step;
    made.op = command.op;
    made.waits = command.waits;
    made.mark = shared_.marks != nullptr ? shared_.marks->name(markText(plan_.graph(), command.op)) : nullptr;
    switch (command.kind) {
    case Command::Kind::Nothing:
    case Command::Kind::Compute: return;
    case Command::Kind::Copy:
    case Command::Kind::Transfer: made.copy = copyOf(command); return;
    }
  }

  Copy copyOf(const Command& command) {
    const OpRow& row = plan_.graph()[command.op];
    Copy copy{command.operands[0], command.results[0], nullptr};
    if (command.kind == Command::Kind::Transfer) {
      reach(copy.from, row.operands[0]);
      reach(copy.to, row.firstResult);
      const TransferRow& route = plan_.placed().transfers.lookup(command.op);
      stageIfNeeded(copy, route);
    }
    return copy;
  }

  // Host memory is pinned in place, a whole arena at a time, since values share pages.
  void reach(const Location& location, ValueId value) {
    if (location.base != Location::Base::Arena || dynamic_cast<CudaArena*>(location.arena) != nullptr) {
      return;
    }
    std::byte* base = location.arena->hostAddress();
    if (base == nullptr) {
      throw MachineError(
          "the other device's memory is out of reach: a cuda GPU exchanges with the cpu and other cuda "
          "GPUs only; run all GPUs of the plan on one backend");
    }
    const int64_t planned = plan_.memory().arenaBytes[plan_.memory().slots[value].device];
    const int64_t bytes = location.arena->bytes() > 0 ? location.arena->bytes() : planned;
    if (!shared_.pins->pin(base, bytes)) {
      throw MachineError(
          fmt::format("{} bytes of host memory cannot be pinned; raise the limit on locked memory "
                      "(ulimit -l) or use a smaller batch",
                      bytes));
    }
  }

  void stageIfNeeded(Copy& copy, const TransferRow& route) {
    const int from = ordinalOf(copy.from), to = ordinalOf(copy.to);
    if (from >= 0 && to >= 0 && !shared_.peers->direct(from, to)) {
      copy.staging = program_.staging.emplace_back(route.bytes).get();
    }
  }

  static int ordinalOf(const Location& location) {
    const auto* arena =
        location.base == Location::Base::Arena ? dynamic_cast<CudaArena*>(location.arena) : nullptr;
    return arena != nullptr ? arena->ordinal() : -1;
  }

  const Executable& plan_;
  const Program& source_;
  const SharedParts& shared_;
  StreamProgram program_;
};

} // namespace

StreamProgram prepareProgram(const Executable& plan, const Program& program, const Gpu& gpu,
                             const SharedParts& shared) {
  const OnDevice current(gpu.ordinal);
  return Preparer(plan, program, gpu, shared).run();
}

std::byte* deviceAddress(const Location& location) {
  auto* gpu = dynamic_cast<CudaArena*>(location.arena);
  std::byte* base = gpu != nullptr ? gpu->base() : location.arena->hostAddress();
  DFC_ASSERT(base != nullptr, "an arena that CUDA cannot access");
  return base + location.offset;
}

std::string whereIs(const Executable& plan, QueueId queue, OpId op) {
  const std::string name = plan.schedule().nameOf(queue, plan.machine());
  return op.valid() ? fmt::format("{}, op '{}'", name, plan.graph().nameOf(op)) : name;
}

} // namespace dfc::cuda
