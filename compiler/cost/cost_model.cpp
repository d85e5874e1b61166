#include "compiler/cost/cost_model.h"

#include "ir/graph/graph.h"
#include "ir/graph/op_parts.h"
#include "ir/graph/rules/precision.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace dfc {
namespace {

// A rate that the machine file leaves out is infinite: it never limits an op.
double secondsAt(double amount, double rate) { return rate > 0 ? amount / rate : 0; }

bool isFree(const OpRow& row) {
  return classOf(row.kind()) == OpClass::View || row.kind() == OpKind::Assign || row.kind() == OpKind::Input;
}

/// Sweeps of an op's GPU kernels that wait for one another: moments before values, scores before weights
/// before sums. Each is a round trip to memory or a barrier of a block, as the launch of a kernel that reads
/// and writes is; on tensors that fill no GPU they are what an op takes. Counted in the kernels of
/// compiler/lower/kernels.
double stagesOf(OpKind kind) {
  switch (kind) {
  case OpKind::LayerNorm:
  case OpKind::LayerNormGradient:
  case OpKind::RmsNorm:
  case OpKind::RmsNormGradient:
  case OpKind::Softmax:
  case OpKind::LogSoftmax:
  case OpKind::SoftmaxCrossEntropy:
  case OpKind::SoftmaxCrossEntropyGradient: return 4; // largest or mean, sum, pass
  case OpKind::BatchNormTraining:
  case OpKind::BatchNormGradient:
  case OpKind::BatchNormSums: return 5;      // sums of pieces, of channels, pass
  case OpKind::Attention: return 6;          // scores, weights, values, by tiles of keys
  case OpKind::AttentionGradient: return 12; // five products by tiles, of queries and of keys
  default: return 1;
  }
}

/// Bytes that a GPU's product reads behind its inner loop, such as those of a sum that it adds to. A block
/// computes its tile of the result before it reads them, so nothing of the product hides that.
double bytesOfEpilogue(OpKind kind, OperandTypes operands) {
  double bytes = 0;
  for (size_t i = 2; kind == OpKind::FusedMatmul && i < operands.size(); ++i) {
    bytes += static_cast<double>(operands[i].bytes());
  }
  return bytes;
}

/// Seconds of the launch, of the op itself, and at the device's limits with all of its threads.
struct Price {
  double launch = 0, work = 0, atLimits = work;
  double seconds() const { return launch + work; }
};

/// Seconds on a CPU of an op that takes `atLimits` with all threads. The runtime hands work to other threads
/// in parts of some ten microseconds or more (runtime/cpu/thread_pool.h), and products in panels of at least
/// 16 million operations (runtime/cpu/kernels/matmul/matmul_plan.h); convolutions are taken for alike. An op
/// of less than a part runs on one thread, at its part of the rate. What so small an op touches is in that
/// thread's cache.
double secondsOnThreads(double atLimits, const OpCost& cost, double rate, const DeviceRow& cpu) {
  constexpr double leastPart = 10e-6, panelFlops = 16e6, bandwidthOfCache = 32e9;
  const double threads = std::max(1U, cpu.threads);
  const double bandwidth =
      cpu.memoryBandwidth > 0 ? std::max(cpu.memoryBandwidth / threads, bandwidthOfCache) : 0;
  const double alone = std::max(secondsAt(cost.flops, rate / threads), secondsAt(cost.bytes, bandwidth));
  const double part =
      cost.product.hasResult() ? std::max(leastPart, secondsAt(panelFlops, rate / threads)) : leastPart;
  return std::max(atLimits, std::min(alone, part));
}

/// Calls of the library on a CPU: one for each product of a batch with different right operands, else one.
double callsOf(const ProductShape& product, OperandTypes operands) {
  const bool shared = operands.size() < 2 || product.windows || !product.hasResult() ||
                      static_cast<double>(operands[1].shape.elements()) <= product.inner * product.columns;
  return shared ? 1 : product.count;
}

// As its author says; it never runs where the author names no time.
Price priceOfCustom(const ops::Custom& op, DeviceKind kind) {
  const double seconds = kind == DeviceKind::Cpu ? op.cpuSeconds : op.gpuSeconds;
  return {0, seconds > 0 ? seconds : std::numeric_limits<double>::infinity()};
}

Price priceOf(const Graph& graph, OpId op, const DeviceRow& hardware, bool generated = false) {
  const OpRow& row = graph[op];
  if (const auto* custom = row.getIf<ops::Custom>()) {
    return priceOfCustom(*custom, hardware.kind);
  }
  if (isFree(row)) {
    return {};
  }
  const auto operands = graph.operandTypesOf(op);
  const auto results = graph.resultTypesOf(op);
  OpCost cost = costOf(row.attributes, operands, results);
  if (generated) {
    cost.product = {.inner = cost.product.inner};
  }
  const ElementType element = operands.empty() ? results.front().element : operands.front().element;
  const bool tf32 = precisionOf(row.attributes) == Precision::Tf32;
  const bool isGpu = hardware.kind == DeviceKind::Gpu;
  const double waits = isGpu ? stagesOf(row.kind()) - 1 : 0;
  const double behind = isGpu ? bytesOfEpilogue(row.kind(), operands) : 0;
  const double rate = hardware.matmulRate(element, tf32, cost.product);
  const double atLimits = std::max(secondsAt(cost.flops, rate) + secondsAt(behind, hardware.memoryBandwidth),
                                   secondsAt(cost.bytes, hardware.memoryBandwidth));
  const double calls = isGpu ? 1 : callsOf(cost.product, operands);
  return {calls * hardware.launchOf(element, tf32, cost.product) + waits * hardware.launchSeconds,
          isGpu ? atLimits : secondsOnThreads(atLimits, cost, rate, hardware), atLimits};
}

} // namespace

double CostModel::pathSeconds(const Machine& machine, const std::vector<Route>& path, int64_t bytes) const {
  double seconds = 0;
  for (const Route& route : path) {
    seconds += transferSeconds(machine, route, bytes);
  }
  return seconds;
}

double RooflineCostModel::opSeconds(const Graph& graph, OpId op, const Machine& machine,
                                    DeviceId device) const {
  return priceOf(graph, op, machine.devices[device]).seconds();
}

double RooflineCostModel::generatedSeconds(const Graph& graph, OpId op, const Machine& machine,
                                           DeviceId device) const {
  return priceOf(graph, op, machine.devices[device], /*generated=*/true).seconds();
}

double RooflineCostModel::utilisation(const Graph& graph, OpId op, const Machine& machine,
                                      DeviceId device) const {
  const DeviceRow& hardware = machine.devices[device];
  if (graph[op].kind() == OpKind::Custom && hardware.kind == DeviceKind::Cpu) {
    return 1.0 / std::max(1U, hardware.threads); // a function of the host runs on one thread
  }
  const Price price = priceOf(graph, op, hardware);
  return price.work > 0 && std::isfinite(price.seconds()) ? price.atLimits / price.seconds() : 0;
}

} // namespace dfc
