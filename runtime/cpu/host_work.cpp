// Commands as kernel calls and memory copies.
#include "runtime/cpu/host_work.h"

#include "runtime/custom/custom_kernel.h"

#include <fmt/format.h>
#include <llvm/ADT/STLExtras.h>

#include <cstring>

namespace dfc {
namespace {

std::byte* baseOf(Arena& arena) {
  const auto* host = dynamic_cast<HostArena*>(&arena);
  return host != nullptr ? host->base() : arena.hostAddress();
}

/// Buffers of a step have one; it is known when the step begins.
bool hasAddress(const Location& location) {
  return location.base != Location::Base::Arena || baseOf(*location.arena) != nullptr;
}

} // namespace

PreparedCall HostWork::prepare(const Executable& plan, const Command& command) {
  switch (command.kind) {
  case Command::Kind::Nothing: return {};
  case Command::Kind::Compute: return prepareKernel(plan.graph(), command);
  case Command::Kind::Copy:
  case Command::Kind::Transfer: return prepareCopy(command);
  }
  DFC_UNREACHABLE("command kind");
}

std::unique_ptr<CpuKernel> HostWork::kernelOf(const Graph& graph, OpId op) {
  if (graph[op].kind() == OpKind::Custom) {
    DFC_ASSERT(functions_ != nullptr, fmt::format("no functions for {}", graph.nameOf(op)));
    return makeCustomKernel(graph, op, *functions_);
  }
  if (!shared_) {
    shared_.emplace(graph);
  }
  return makeCpuKernel(graph[op].attributes, graph.operandTypesOf(op), graph.resultTypesOf(op), pool_,
                       shared_->of(op));
}

void HostWork::hold(const Graph& graph, const Command& command, CpuKernel& kernel) {
  if (!unchanged_) {
    unchanged_.emplace(graph);
  }
  llvm::SmallVector<Held, 4> held;
  for (size_t i = 0; i < command.operands.size(); ++i) {
    const Location& from = command.operands[i];
    const ValueId value = graph[command.op].operands[i];
    const bool isSeen = from.base == Location::Base::Arena && !unchanged_->isCopy(value) &&
                        dynamic_cast<HostArena*>(from.arena) != nullptr;
    held.push_back(!unchanged_->contains(value) ? Held::No : isSeen ? Held::Yes : Held::Constant);
  }
  const bool isConstant = llvm::any_of(held, [](Held operand) { return operand != Held::No; });
  if (!isConstant || !kernel.hold(held)) {
    return;
  }
  holders_.push_back(&kernel);
  for (size_t i = 0; i < held.size(); ++i) {
    const auto* arena = dynamic_cast<const HostArena*>(command.operands[i].arena);
    if (held[i] == Held::Yes && !llvm::is_contained(heldIn_, arena)) {
      heldIn_.push_back(arena);
    }
  }
}

PreparedCall HostWork::prepareKernel(const Graph& graph, const Command& command) {
  KernelCall& call = kernels_.emplace_back();
  call.kernel = kernelOf(graph, command.op);
  DFC_ASSERT(call.kernel != nullptr, fmt::format("no kernel for {}", graph.nameOf(command.op)));
  hold(graph, command, *call.kernel);
  call.operands.resize(command.operands.size());
  call.results.resize(command.results.size());
  for (size_t i = 0; i < command.operands.size(); ++i) {
    place(command.operands[i], call.operands[i]);
  }
  for (size_t i = 0; i < command.results.size(); ++i) {
    place(command.results[i], call.results[i]);
  }
  return {[](void* context) {
            auto& work = *static_cast<KernelCall*>(context);
            work.kernel->run(work.operands, work.results);
          },
          &call};
}

void HostWork::StagedCall::run() {
  const auto bytes = static_cast<size_t>(from.bytes);
  if (target != nullptr) {
    return from.arena->read(from.offset, {target, bytes});
  }
  if (source != nullptr) {
    return to.arena->write(to.offset, {source, bytes});
  }
  from.arena->read(from.offset, buffer);
  to.arena->write(to.offset, buffer);
}

PreparedCall HostWork::prepareStaged(const Location& from, const Location& to) {
  StagedCall& call = staged_.emplace_back(StagedCall{from, to});
  if (hasAddress(from)) {
    place(from, call.source);
  } else if (hasAddress(to)) {
    place(to, call.target);
  } else {
    call.buffer.resize(static_cast<size_t>(from.bytes));
  }
  return {[](void* context) { static_cast<StagedCall*>(context)->run(); }, &call};
}

PreparedCall HostWork::prepareCopy(const Command& command) {
  const Location& from = command.operands[0];
  const Location& to = command.results[0];
  if (!hasAddress(from) || !hasAddress(to)) {
    return prepareStaged(from, to);
  }
  CopyCall& call = copies_.emplace_back();
  call.bytes = from.bytes;
  place(from, call.from);
  place(to, call.to);
  return {[](void* context) {
            const auto& work = *static_cast<CopyCall*>(context);
            std::memcpy(work.to, work.from, static_cast<size_t>(work.bytes));
          },
          &call};
}

void HostWork::place(const Location& location, const std::byte*& pointer) {
  switch (location.base) {
  case Location::Base::Arena: pointer = baseOf(*location.arena) + location.offset; return;
  case Location::Base::Feed: feedPatches_.push_back({&pointer, location.buffer}); return;
  case Location::Base::Fetch: fetchReads_.push_back({&pointer, location.buffer}); return;
  }
}

void HostWork::place(const Location& location, std::byte*& pointer) {
  DFC_ASSERT(location.base != Location::Base::Feed, "no command writes a fed buffer");
  if (location.base == Location::Base::Fetch) {
    fetchPatches_.push_back({&pointer, location.buffer});
  } else {
    pointer = baseOf(*location.arena) + location.offset;
  }
}

// State is written between steps, by HostArena::write alone.
void HostWork::refreshHeld() {
  uint64_t writes = 0;
  for (const HostArena* arena : heldIn_) {
    writes += arena->writes();
  }
  if (writes != writesSeen_) {
    writesSeen_ = writes;
    for (CpuKernel* kernel : holders_) {
      kernel->heldChanged();
    }
  }
}

void HostWork::bind(const Step& step) {
  refreshHeld();
  for (const auto& patch : feedPatches_) {
    *patch.place = step.feeds[patch.buffer];
  }
  for (const auto& patch : fetchReads_) {
    *patch.place = step.fetches[patch.buffer];
  }
  for (const auto& patch : fetchPatches_) {
    *patch.place = step.fetches[patch.buffer];
  }
}

} // namespace dfc
