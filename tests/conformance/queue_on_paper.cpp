#include "tests/conformance/queue_on_paper.h"

#include "compiler/interpreter/evaluate.h"
#include "ir/base/assert.h"
#include "ir/graph/graph.h"
#include "ir/plan/executable_parts.h"
#include "tests/support/relowered.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace dfc::test {
namespace {

Literal literalAt(const TensorType& type, const std::byte* from) {
  Literal literal(type);
  std::memcpy(literal.mutableBytes().data(), from, static_cast<size_t>(type.bytes()));
  return literal;
}

double activated(Activation activation, double value) {
  const auto tanhOf = [](double x) { return std::tanh(0.7978845608 * (x + 0.044715 * x * x * x)); };
  switch (activation) {
  case Activation::None: return value;
  case Activation::Relu: return value < 0 ? 0 : value;
  case Activation::Gelu: return value / 2 * (1 + tanhOf(value));
  }
  DFC_UNREACHABLE("an epilogue");
}

/// What cuBLASLt would do, near enough: the same for the same call.
void multiply(const ProductCall& call, llvm::ArrayRef<std::byte*> pointers) {
  ops::Matmul matmul;
  matmul.transposeA = call.transposeA, matmul.transposeB = call.transposeB;
  Literal result = evaluateOp(matmul, {literalAt(call.a, pointers[1]), literalAt(call.b, pointers[2])})[0];
  const int64_t columns = call.result.shape[call.result.shape.rank() - 1];
  const Literal none(call.result);
  const Literal addend = call.addend ? literalAt(call.result, pointers.back()) : none;
  const Literal bias = call.bias ? literalAt({call.result.element, Shape{columns}}, pointers.back())
                                 : Literal(TensorType{call.result.element, Shape{columns}});
  for (int64_t i = 0; i < call.result.shape.elements(); ++i) {
    const double sum = call.alpha * result.at(i) + addend.at(i) + bias.at(i % columns);
    result.set(i, activated(call.activation, sum));
  }
  std::memcpy(pointers[0], result.bytes().data(), result.bytes().size());
}

} // namespace

QueueOnPaper::QueueOnPaper(const std::shared_ptr<const Executable>& plan, bool merge, bool peerReads)
    : paper_(relowered(*plan, {.mergeLaunches = merge, .peerReads = peerReads})), plan_(paper_.plan) {
  for (const FeedRow& feed : paper_.planned.feeds) {
    feeds_.emplace_back(feed.type);
  }
  for (const FetchRow& fetch : paper_.planned.fetches) {
    fetches_.emplace_back(fetch.type);
  }
  for (const LaunchRow& row : plan_->launches().launches) {
    Queue& queue = queues_[row.queue.index()];
    const bool spare = row.kind == LaunchKind::Convolution;
    const std::vector<LaunchRow> rows = spare ? row.spare : std::vector<LaunchRow>{row};
    queue.launches.insert(queue.launches.end(), rows.begin(), rows.end());
  }
}

llvm::ArrayRef<LaunchRow> QueueOnPaper::launches() const {
  DFC_ASSERT(!queues_.empty(), "a plan without GPUs");
  const auto most = std::max_element(queues_.begin(), queues_.end(), [](const auto& a, const auto& b) {
    return a.second.launches.size() < b.second.launches.size();
  });
  return most->second.launches;
}

std::string QueueOnPaper::listing() const {
  std::string text;
  for (const auto& [number, queue] : queues_) {
    for (const LaunchRow& launch : queue.launches) {
      std::vector<std::string_view> names;
      for (const OpId op : launch.ops) {
        names.push_back(plan_->graph().nameOf(op));
      }
      text += fmt::format(
          "{}: {}\n", fmt::join(names, ", "),
          launch.product ? "cuBLASLt"
                         : fmt::format("{} blocks of {}", launch.grid[0] * launch.grid[1], launch.threads));
    }
  }
  return text;
}

void QueueOnPaper::addTo(EmulatedKernels& kernels) {
  for (auto& [number, queue] : queues_) {
    for (const LaunchRow& launch : queue.launches) {
      queue.kernels.push_back(launch.product ? 0
                                             : kernels.addKernel(plan_->launches().kernels[launch.kernel],
                                                                 launch.pointersByValue));
    }
  }
}

std::byte* QueueOnPaper::addressOf(const LaunchPointer& pointer, Queue& queue) {
  if (!pointer.inWorkspace()) {
    return paper_.arenas[pointer.device.index()]->hostAddress() + pointer.offset;
  }
  const auto base = (reinterpret_cast<uintptr_t>(queue.workspace.data()) + 255) / 256 * 256;
  return reinterpret_cast<std::byte*>(base) + pointer.offset;
}

std::byte* QueueOnPaper::addressOf(const Location& location) {
  switch (location.base) {
  case Location::Base::Arena: return location.arena->hostAddress() + location.offset;
  case Location::Base::Feed: return feeds_[location.buffer].mutableBytes().data();
  case Location::Base::Fetch: return fetches_[location.buffer].mutableBytes().data();
  }
  DFC_UNREACHABLE("where a value lies");
}

void QueueOnPaper::fill(uint64_t seed) {
  Dice dice(seed);
  for (const auto& arena : paper_.arenas) {
    std::memset(arena->hostAddress(), 0, static_cast<size_t>(arena->size()));
  }
  for (auto& [number, queue] : queues_) {
    const int64_t bytes = plan_->launches().workspaceBytes[QueueId(static_cast<uint32_t>(number))];
    queue.workspace.assign(static_cast<size_t>(bytes) + 256, std::byte{0xff});
  }
  const Graph& graph = plan_->graph();
  for (const OpId op : graph.ops()) {
    const OpRow& row = graph[op];
    const auto* constant = row.getIf<ops::Constant>();
    if (constant == nullptr && row.kind() != OpKind::Parameter) {
      continue;
    }
    const Slot& slot = plan_->memory().slots[row.firstResult];
    const Literal value =
        constant != nullptr ? constant->value : randomLiteral(graph.typeOf(row.firstResult), dice);
    paper_.arenas[slot.device.index()]->write(slot.offset, value.bytes());
  }
  for (size_t i = 0; i < feeds_.size(); ++i) {
    feeds_[i] = randomLiteral(paper_.planned.feeds[i].type, dice);
  }
}

void QueueOnPaper::runOnHost(const Command& command) {
  const Graph& graph = plan_->graph();
  std::vector<Literal> operands;
  for (size_t i = 0; i < command.operands.size(); ++i) {
    operands.push_back(
        literalAt(graph.typeOf(graph[command.op].operands[i]), addressOf(command.operands[i])));
  }
  const auto results = evaluateOp(graph[command.op].attributes, operands);
  for (size_t i = 0; i < command.results.size(); ++i) {
    std::memcpy(addressOf(command.results[i]), results[i].bytes().data(), results[i].bytes().size());
  }
}

void QueueOnPaper::runCommand(EmulatedKernels& kernels, Queue* queue, const Program& program, size_t position,
                              std::string& problem) {
  const Command& command = program.commands[position];
  switch (command.kind) {
  case Command::Kind::Nothing: return;
  case Command::Kind::Copy:
  case Command::Kind::Transfer:
    std::memcpy(addressOf(command.results[0]), addressOf(command.operands[0]),
                static_cast<size_t>(command.operands[0].bytes));
    return;
  case Command::Kind::Compute: break;
  }
  if (queue == nullptr) {
    runOnHost(command);
    return;
  }
  for (size_t i = 0; i < queue->launches.size(); ++i) {
    if (command.step.valid() && queue->launches[i].at == command.op) {
      runLaunch(kernels, *queue, i, problem);
    }
  }
}

void QueueOnPaper::runLaunch(EmulatedKernels& kernels, Queue& queue, size_t number, std::string& problem) {
  const LaunchRow& launch = queue.launches[number];
  std::vector<std::byte*> pointers;
  for (const LaunchPointer& pointer : launch.pointers) {
    pointers.push_back(addressOf(pointer, queue));
  }
  if (launch.product) {
    multiply(*launch.product, pointers);
  } else if (!kernels.launch(queue.kernels[number], {pointers.begin(), pointers.end()}, launch.grid,
                             launch.threads)) {
    problem = "a deadlock of threads";
  }
}

std::vector<std::byte> QueueOnPaper::run(EmulatedKernels& kernels, uint64_t seed, std::string& problem) {
  fill(seed);
  std::map<size_t, size_t> next; // by queue
  const auto take = [&](const Program& program) {
    const auto queue = queues_.find(program.queue.index());
    runCommand(kernels, queue != queues_.end() ? &queue->second : nullptr, program,
               next[program.queue.index()]++, problem);
  };
  const Schedule& schedule = plan_->schedule();
  for (const StepId step : paper_.order) {
    for (const Program& program : paper_.programs) {
      if (program.queue == schedule.steps[step].queue) {
        take(program);
        size_t& at = next[program.queue.index()];
        while (at < program.commands.size() && !program.commands[at].step.valid()) {
          take(program);
        }
      }
    }
  }
  std::vector<std::byte> all;
  for (const auto& arena : paper_.arenas) {
    all.insert(all.end(), arena->hostAddress(), arena->hostAddress() + arena->size());
  }
  for (const Literal& fetch : fetches_) {
    all.insert(all.end(), fetch.bytes().begin(), fetch.bytes().end());
  }
  return all;
}

std::vector<std::byte> QueueOnPaper::lasting() const {
  std::vector<std::byte> all;
  const Graph& graph = plan_->graph();
  for (const OpId op : graph.ops()) {
    if (graph[op].kind() == OpKind::Parameter) {
      const Slot& slot = plan_->memory().slots[graph[op].firstResult];
      const std::byte* from = paper_.arenas[slot.device.index()]->hostAddress() + slot.offset;
      all.insert(all.end(), from, from + graph.typeOf(graph[op].firstResult).bytes());
    }
  }
  for (const Literal& fetch : fetches_) {
    all.insert(all.end(), fetch.bytes().begin(), fetch.bytes().end());
  }
  return all;
}

} // namespace dfc::test
