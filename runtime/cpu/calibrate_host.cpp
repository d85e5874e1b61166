#include "runtime/cpu/calibrate_host.h"

#include "ir/graph/rules/index_rules.h"
#include "runtime/backend.h"
#include "runtime/cpu/host_device.h"
#include "runtime/cpu/kernels/cache_hints.h"
#include "runtime/cpu/shared_values.h"
#include "runtime/cpu/unchanged_values.h"
#include "runtime/custom/custom_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>
#include <random>
#include <utility>

namespace dfc {
namespace {

constexpr size_t mostRuns = 9;
constexpr double longEnough = 0.3; ///< seconds after which no further run of an op starts

/// Random operands: floats between 0.5 and 1.5, which every function takes without overflow or special cases;
/// integers and bools 0 or 1, which are valid labels too; indices over the axis of length `indexed`. The
/// first elements are drawn and then repeated.
Literal operandOf(const TensorType& type, std::optional<int64_t> indexed, std::minstd_rand& dice) {
  constexpr int64_t mostDrawn = 4093; // a prime, so that rows differ
  Literal literal(type);
  const int64_t drawn = std::min(type.shape.elements(), mostDrawn);
  for (int64_t i = 0; i < drawn; ++i) {
    const double unit = static_cast<double>(dice()) / static_cast<double>(std::minstd_rand::max());
    const double whole = indexed      ? std::floor(unit * 0.999 * static_cast<double>(*indexed))
                         : unit < 0.5 ? 0
                                      : 1;
    literal.set(i, isFloat(type.element) ? 0.5 + unit : whole);
  }
  const std::span<std::byte> bytes = literal.mutableBytes();
  const auto pattern = static_cast<size_t>(drawn * byteWidth(type.element));
  for (size_t at = pattern; at < bytes.size(); at += pattern) {
    std::memcpy(bytes.data() + at, bytes.data(), std::min(pattern, bytes.size() - at));
  }
  return literal;
}

/// One op with its kernel and buffers.
class Trial {
 public:
  Trial(const Graph& graph, OpId op, const SharedBuffers& shared, std::unique_ptr<CpuKernel> kernel)
      : kernel_(std::move(kernel)) {
    std::minstd_rand dice(1);
    const auto types = graph.operandTypesOf(op);
    for (size_t i = 0; i < types.size(); ++i) {
      Literal drawn = operandOf(types[i], indexedLength(graph[op].attributes, types, i), dice);
      if (shared.operands[i]) {
        arriving_.push_back({std::move(drawn), Literal(types[i])});
        operands_.push_back(arriving_.back().here.bytes().data());
      } else {
        literals_.push_back(std::move(drawn));
        operands_.push_back(literals_.back().bytes().data());
      }
    }
    for (const TensorType& type : graph.resultTypesOf(op)) {
      literals_.emplace_back(type);
      results_.push_back(literals_.back().mutableBytes().data());
    }
  }

  double median() {
    run(); // pages, caches, threads
    std::vector<double> seconds;
    double spent = 0;
    while (seconds.empty() || (seconds.size() < mostRuns && spent < longEnough)) {
      seconds.push_back(run());
      spent += seconds.back();
    }
    const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
    std::nth_element(seconds.begin(), middle, seconds.end());
    return *middle;
  }

 private:
  /// An operand that a transfer brings.
  struct Arriving {
    Literal sent, here;
  };

  double run() {
    constexpr double tick = 1e-9; // the clock's; a time is never 0
    for (Arriving& operand : arriving_) {
      const std::span<const std::byte> sent = operand.sent.bytes();
      streamOut(operand.here.mutableBytes().data(), sent.data(), sent.size());
    }
    endStreaming();
    const double begin = steadySeconds();
    kernel_->run(operands_, results_);
    return std::max(steadySeconds() - begin, tick);
  }

  std::unique_ptr<CpuKernel> kernel_;
  std::vector<Literal> literals_;
  std::vector<Arriving> arriving_;
  std::vector<const std::byte*> operands_;
  std::vector<std::byte*> results_;
};

/// Tells a kernel which operands no step changes, as a session does: trials never change theirs.
void holdUnchanged(const Graph& graph, OpId op, CpuKernel& kernel) {
  const UnchangedValues unchanged(graph);
  llvm::SmallVector<Held, 4> held;
  for (const ValueId value : graph[op].operands) {
    held.push_back(!unchanged.contains(value) ? Held::No
                   : unchanged.isCopy(value)  ? Held::Constant
                                              : Held::Yes);
  }
  if (llvm::any_of(held, [](Held operand) { return operand != Held::No; })) {
    kernel.hold(held);
  }
}

} // namespace

CalibratedOp calibrateKernel(const Graph& graph, OpId op, const SharedBuffers& shared,
                             std::unique_ptr<CpuKernel> kernel) {
  DFC_ASSERT(kernel != nullptr, fmt::format("no kernel for {}", graph.nameOf(op)));
  try {
    holdUnchanged(graph, op, *kernel);
    return {signatureOf(graph, op), Trial(graph, op, shared, std::move(kernel)).median(), ""};
  } catch (const std::bad_alloc&) {
    throw MachineError(fmt::format("not enough memory to time {}", signatureOf(graph, op)));
  }
}

std::vector<CalibratedOp> calibrateHost(const Graph& graph, llvm::ArrayRef<OpId> ops, uint32_t threads) {
  ThreadPool pool(hostThreads(threads));
  const SharedValues shared(graph);
  std::vector<CalibratedOp> measured;
  for (const OpId op : ops) {
    const SharedBuffers buffers = shared.of(op);
    measured.push_back(calibrateKernel(graph, op, buffers,
                                       makeCpuKernel(graph[op].attributes, graph.operandTypesOf(op),
                                                     graph.resultTypesOf(op), pool, buffers)));
  }
  return measured;
}

std::vector<CalibratedOp> calibrateCustom(const Graph& graph, llvm::ArrayRef<OpId> ops,
                                          const CustomFunctions& functions) {
  const SharedValues shared(graph);
  std::vector<CalibratedOp> measured;
  for (const OpId op : ops) {
    try {
      measured.push_back(calibrateKernel(graph, op, shared.of(op), makeCustomKernel(graph, op, functions)));
    } catch (const CustomError&) { // it asks more of its operands than that they are numbers
      continue;
    }
  }
  return measured;
}

} // namespace dfc
