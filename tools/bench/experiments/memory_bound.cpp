// Ops limited by memory bandwidth, one large op a step, held against the GPU's copy bandwidth.
#include "tools/bench/experiments/experiments.h"

#include "ir/author/dsl.h"
#include "ir/graph/graph.h"

#include <fmt/format.h>

#include <functional>

namespace dfc::bench {
namespace {

/// One op of operands that lie on the device; its result stays there.
struct OneOp {
  std::string name;
  std::vector<TensorType> operands;
  std::function<Tensor(const std::vector<Tensor>&)> apply;
  double atLeast = 0.85; ///< of the copy bandwidth; 0: told without a requirement
};

std::vector<OneOp> opsOf(int64_t rows, int64_t columns) {
  const TensorType matrix = f32({rows, columns}), half = f32({rows, columns / 2});
  return {
      {"softmax", {matrix}, [](const auto& x) { return softmax(x[0]); }},
      {"softmax/columns", {matrix}, [](const auto& x) { return softmax(x[0], 0); }, 0},
      {"crossEntropy", {matrix, i64({rows})}, [](const auto& x) { return softmaxCrossEntropy(x[0], x[1]); }},
      {"reduceSum/rows", {matrix}, [](const auto& x) { return reduceSum(x[0], {1}); }},
      {"reduceSum/columns", {matrix}, [](const auto& x) { return reduceSum(x[0], {0}); }},
      {"reduceSum/all", {matrix}, [](const auto& x) { return reduceSum(x[0]); }},
      {"transpose", {matrix}, [](const auto& x) { return transpose(x[0]); }},
      {"concat",
       {half, half},
       [](const auto& x) {
         return concat({x[0], x[1]}, 1);
       }},
      {"elementwise", {matrix, matrix}, [](const auto& x) { return tanh(x[0]) * x[1] + x[0]; }},
  };
}

Result<Graph> graphOf(const OneOp& op, const std::string& device) {
  Builder g(op.name);
  const auto here = g.on(device);
  std::vector<Tensor> operands;
  for (const TensorType& type : op.operands) {
    const bool labels = type.element == ElementType::I64;
    operands.push_back(
        g.parameter(fmt::format("x{}", operands.size()), type, labels ? constantInit(1) : uniform(-1, 1, 1)));
  }
  const Tensor result = op.apply(operands);
  g.assign(g.parameter("kept", result.type(), constantInit(0)), result);
  return std::move(g).finish();
}

/// The bytes that have to be read and written once.
double bytesOf(const Graph& graph) {
  double bytes = 0;
  for (const OpId op : graph.ops()) {
    bytes += graph[op].kind() == OpKind::Parameter
                 ? static_cast<double>(graph.typeOf(graph[op].firstResult).bytes())
                 : 0;
  }
  return bytes;
}

void timeOne(Harness& harness, const OneOp& op) {
  const std::string gpu = harness.gpus()[0];
  const double bandwidth = harness.machine().devices[harness.machine().findDevice(gpu)].memoryBandwidth;
  const std::string description = fmt::format("{} of {} on {}", op.name, toString(op.operands[0]), gpu);
  harness.attempt("memory_bound/" + op.name, description, [&](Row& row) -> Status {
    const auto graph = graphOf(op, gpu);
    const auto prepared = harness.prepare(graph);
    if (!prepared) {
      return prepared.errors();
    }
    measureSteps(*prepared, harness.shortSteps(), row);
    const double rate = bytesOf(*graph) / row.time->median;
    row.notes.push_back(fmt::format("{:.3g} GB/s", 1e-9 * rate));
    if (bandwidth > 0) {
      row.checks.push_back({"the GPU's copy bandwidth", rate / bandwidth, std::nullopt,
                            op.atLeast > 0 ? harness.required(op.atLeast) : std::nullopt});
    }
    return success();
  });
}

} // namespace

void memoryBound(Harness& harness) {
  if (harness.gpus().empty()) {
    return harness.lacking("memory_bound", "large ops that only read and write", "the machine has no GPU");
  }
  const bool large = harness.realGpus();
  for (const OneOp& op : opsOf(large ? 16384 : 128, large ? 8192 : 256)) {
    if (harness.wants("memory_bound/" + op.name)) {
      timeOne(harness, op);
    }
  }
}

} // namespace dfc::bench
