#include "tests/conformance/queue_on_paper.h"

#include "compiler/interpreter/evaluate.h"
#include "ir/base/assert.h"
#include "ir/graph/graph.h"
#include "ir/plan/executable_parts.h"
#include "runtime/cuda/launches/regions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace dfc::test {
namespace {

using cuda::PlannedLaunch;

Literal literalAt(const TensorType& type, const std::byte* from) {
  Literal literal(type);
  std::memcpy(literal.mutableBytes().data(), from, static_cast<size_t>(type.bytes()));
  return literal;
}

/// Has every epilogue of every product.
class WillingProducts final : public cuda::ProductLibrary {
 public:
  bool takes(const cuda::MatmulCall&, cuda::Activation, bool) override { return true; }
};

double activated(cuda::Activation activation, double value) {
  const auto tanhOf = [](double x) { return std::tanh(0.7978845608 * (x + 0.044715 * x * x * x)); };
  switch (activation) {
  case cuda::Activation::None: return value;
  case cuda::Activation::Relu: return value < 0 ? 0 : value;
  case cuda::Activation::Gelu: return value / 2 * (1 + tanhOf(value));
  }
  DFC_UNREACHABLE("an epilogue");
}

/// What cuBLASLt would do, near enough: the same for the same call.
void multiply(const cuda::MatmulCall& call, std::byte* out) {
  ops::Matmul matmul;
  matmul.transposeA = call.transposeA, matmul.transposeB = call.transposeB;
  Literal result = evaluateOp(matmul, {literalAt(call.a, call.aData), literalAt(call.b, call.bData)})[0];
  const int64_t columns = call.result.shape[call.result.shape.rank() - 1];
  const Literal none(call.result);
  const Literal addend = call.addend != nullptr ? literalAt(call.result, call.addend) : none;
  const Literal bias = call.bias != nullptr ? literalAt({call.result.element, Shape{columns}}, call.bias)
                                            : Literal(TensorType{call.result.element, Shape{columns}});
  for (int64_t i = 0; i < call.result.shape.elements(); ++i) {
    const double sum = call.alpha * result.at(i) + addend.at(i) + bias.at(i % columns);
    result.set(i, activated(call.activation, sum));
  }
  std::memcpy(out, result.bytes().data(), result.bytes().size());
}

} // namespace

QueueOnPaper::QueueOnPaper(std::shared_ptr<const Executable> plan, bool merge, bool peerReads)
    : plan_(std::move(plan)), paper_(*plan_, peerReads) {
  for (const FeedRow& feed : paper_.planned.feeds) {
    feeds_.emplace_back(feed.type);
  }
  for (const FetchRow& fetch : paper_.planned.fetches) {
    fetches_.emplace_back(fetch.type);
  }
  for (const Program& program : paper_.programs) {
    addQueue(program, merge);
  }
}

void QueueOnPaper::addQueue(const Program& program, bool merge) {
  const QueueRow& row = plan_->schedule().queues[program.queue];
  if (plan_->machine().devices[row.device].kind != DeviceKind::Gpu) {
    return;
  }
  Queue queue{program, {}, {}, {}, {}};
  const std::vector<cuda::Region> regions = cuda::regionsOf(program);
  for (uint32_t i = 0; i < program.commands.size(); ++i) {
    const Command& command = program.commands[i];
    if (command.kind == Command::Kind::Compute) {
      cuda::Computation computation;
      computation.op = command.op;
      computation.region = regions[i];
      computation.position = i;
      for (const Location& operand : command.operands) {
        computation.at.operands.push_back(addressOf(operand));
      }
      for (const Location& result : command.results) {
        computation.at.results.push_back(addressOf(result));
      }
      queue.computations.push_back(std::move(computation));
    }
  }
  WillingProducts products;
  queue.launches = planLaunches(plan_->graph(), queue.computations, merge, {.products = &products});
  queues_.emplace(program.queue.index(), std::move(queue));
}

const cuda::LaunchPlan& QueueOnPaper::launches() const {
  DFC_ASSERT(!queues_.empty(), "a plan without GPUs");
  const auto most = std::max_element(queues_.begin(), queues_.end(), [](const auto& a, const auto& b) {
    return a.second.launches.launches.size() < b.second.launches.launches.size();
  });
  return most->second.launches;
}

std::string QueueOnPaper::listing() const {
  std::string text;
  for (const auto& [number, queue] : queues_) {
    for (const PlannedLaunch& launch : queue.launches.launches) {
      std::vector<std::string_view> names;
      names.reserve(launch.computations.size());
      for (const uint32_t computation : launch.computations) {
        names.push_back(plan_->graph().nameOf(queue.computations[computation].op));
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
    for (const PlannedLaunch& launch : queue.launches.launches) {
      queue.kernels.push_back(launch.product ? 0 : kernels.addKernel(launch.text, launch.pointersByValue));
    }
  }
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
    queue.workspace.assign(static_cast<size_t>(queue.launches.workspaceBytes) + 256, std::byte{0xff});
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
  auto* base =
      reinterpret_cast<std::byte*>((reinterpret_cast<uintptr_t>(queue->workspace.data()) + 255) / 256 * 256);
  for (size_t i = 0; i < queue->launches.launches.size(); ++i) {
    const PlannedLaunch& launch = queue->launches.launches[i];
    if (launch.position != position) {
      continue;
    }
    std::vector<void*> pointers;
    pointers.reserve(launch.pointers.size());
    for (const cuda::Place& place : launch.pointers) {
      pointers.push_back(place.resolved(base));
    }
    if (launch.product) {
      multiply(*launch.product, static_cast<std::byte*>(pointers[0]));
    } else if (!kernels.launch(queue->kernels[i], pointers, launch.grid, launch.threads)) {
      problem = "a deadlock of threads";
    }
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
  for (const StepId step : paper_.lowered.order) {
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
