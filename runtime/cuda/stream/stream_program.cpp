#include "runtime/cuda/stream/stream_program.h"

#include "ir/plan/executable_parts.h"
#include "runtime/cuda/arena.h"
#include "runtime/cuda/launches/epilogue.h"
#include "runtime/cuda/launches/kernel_selection.h"
#include "runtime/cuda/launches/regions.h"
#include "runtime/cuda/library/matmul.h"

#include <fmt/format.h>

#include <numeric>

namespace dfc::cuda {
namespace {

/// "scope/a, b": of all ops of a launch.
std::string markTextOf(const Executable& plan, const StreamProgram& program, const ComputeLaunch& launch) {
  std::vector<std::string> texts;
  for (const uint32_t computation : launch.computations) {
    texts.push_back(markText(plan.graph(), program.computations[computation].op));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

Computing computingOf(const Executable& plan, const StreamProgram& program,
                      const std::vector<Computation>& computations, const SharedParts& shared, bool merge) {
  Computing computing;
  computing.firstAt.assign(program.commands.size() + 1, 0);
  if (computations.empty()) {
    return computing;
  }
  const Gpu& gpu = *program.gpu;
  located(plan, program.queue, OpId(), [&] {
    computing.made = makeLaunches(
        plan.graph(), computations,
        {gpu.ordinal, gpu.architecture, gpu.shape, shared.library, program.matmulWorkspace.get()}, merge);
  });
  for (const ComputeLaunch& launch : computing.made.launches) {
    ++computing.firstAt[launch.position + 1];
    computing.marks.push_back(shared.marks != nullptr ? shared.marks->name(markTextOf(plan, program, launch))
                                                      : nullptr);
  }
  std::partial_sum(computing.firstAt.begin(), computing.firstAt.end(), computing.firstAt.begin());
  return computing;
}

class Preparer {
 public:
  Preparer(const Executable& plan, const Program& planned, const Program& program, const Gpu& gpu,
           const SharedParts& shared)
      : plan_(plan), planned_(planned), source_(program), shared_(shared) {
    program_.queue = program.queue;
    program_.gpu = &gpu;
  }

  StreamProgram run() {
    const std::vector<Region> regions = regionsOf(source_);
    for (size_t i = 0; i < regions.size(); ++i) {
      const Command &planned = planned_.commands[i], &command = source_.commands[i];
      located(plan_, source_.queue, command.op, [&] { add(planned, command, regions[i]); });
    }
    if (!program_.computations.empty()) {
      located(plan_, source_.queue, OpId(), [&] {
        program_.matmulWorkspace =
            DeviceBuffer(program_.gpu->ordinal, matmulWorkspaceBytes, "cuBLASLt's workspace");
      });
    }
    program_.computing = computingOf(plan_, program_, program_.computations, shared_, shared_.merge);
    return std::move(program_);
  }

 private:
  void add(const Command& planned, const Command& command, Region region) {
    StreamCommand& made = program_.commands.emplace_back();
    made.kind = planned.kind;
    made.step = planned.step;
    made.op = planned.op;
    made.waits = command.waits;
    made.plannedWaits = planned.waits;
    made.readByPeer = command.kind != planned.kind;
    made.mark = shared_.marks != nullptr ? shared_.marks->name(markText(plan_.graph(), planned.op)) : nullptr;
    switch (planned.kind) {
    case Command::Kind::Nothing: return;
    case Command::Kind::Compute:
      program_.computations.push_back(computationOf(command, region));
      program_.planned.push_back(computationOf(planned, region));
      return;
    case Command::Kind::Copy:
    case Command::Kind::Transfer: made.copy = copyOf(planned); return;
    }
  }

  Computation computationOf(const Command& command, Region region) const {
    Computation computation;
    computation.region = region;
    computation.position = static_cast<uint32_t>(program_.commands.size()) - 1;
    computation.op = command.op;
    choose(computation);
    for (const Location& operand : command.operands) {
      computation.at.operands.push_back(onGpu(operand));
    }
    for (const Location& result : command.results) {
      computation.at.results.push_back(onGpu(result));
    }
    return computation;
  }

  // A product's algorithm comes from the row of the plain product, so that it does not depend on the
  // epilogue.
  void choose(Computation& computation) const {
    const Calibration* table = shared_.calibration;
    const OpId op = computation.op;
    if (table == nullptr || table->device != program_.gpu->model || !isLibraryProduct(plan_.graph(), op)) {
      return;
    }
    const LoneOp product = plainProductOf(plan_.graph(), op);
    if (const CalibratedOp* row = table->find(signatureOf(product.graph, product.op))) {
      computation.choice = row->choice;
    }
  }

  static std::byte* onGpu(const Location& location) {
    auto* arena = location.base == Location::Base::Arena ? dynamic_cast<CudaArena*>(location.arena) : nullptr;
    DFC_ASSERT(arena != nullptr, "a GPU computes in its own arena, or reads a peer's");
    return arena->base() + location.offset;
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
    const int64_t bytes = plan_.memory().arenaBytes[plan_.memory().slots[value].device];
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
  const Program &planned_, &source_;
  const SharedParts& shared_;
  StreamProgram program_;
};

} // namespace

StreamProgram prepareProgram(const Executable& plan, const Program& planned, const Program& program,
                             const Gpu& gpu, const SharedParts& shared) {
  const OnDevice current(gpu.ordinal);
  return Preparer(plan, planned, program, gpu, shared).run();
}

void prepareSingle(const Executable& plan, StreamProgram& program, const SharedParts& shared) {
  if (!program.single) {
    const OnDevice current(program.gpu->ordinal);
    program.single = computingOf(plan, program, program.planned, shared, false);
  }
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
