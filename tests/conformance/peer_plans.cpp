// See peer_plans.h.
#include "tests/conformance/peer_plans.h"

#include "ir/plan/executable_parts.h"
#include "runtime/executable_folder.h"
#include "tests/support/catch.h"
#include "tests/support/random_graph.h"
#include "tests/support/repinned.h"
#include "tools/bench/graphs/mlp.h"

#include <fmt/format.h>

namespace dfc::test {

bool everywhere(DeviceId /*reader*/, DeviceId /*owner*/) { return true; }

std::string nameOf(const Executable& plan, StepId step) {
  return std::string(plan.graph().nameOf(plan.schedule().steps[step].op));
}

std::string written(const Executable& plan, llvm::ArrayRef<PeerRead> reads) {
  std::vector<std::string> texts;
  for (const PeerRead& read : reads) {
    texts.push_back(fmt::format("{} by {}", nameOf(plan, read.transfer), nameOf(plan, read.reader)));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

StepId stepNamed(const Executable& plan, std::string_view name) {
  for (const StepId step : plan.schedule().steps.ids()) {
    if (nameOf(plan, step) == name) {
      return step;
    }
  }
  FAIL("no step " << name);
  return {};
}

Plan exchangePlan(Shape shape, llvm::function_ref<void(Builder& g, Tensor made, Tensor w)> use) {
  Builder g("exchange");
  const TensorType type{ElementType::F32, std::move(shape)};
  const Tensor made = [&] {
    const auto there = g.on("gpu1");
    return (g.parameter("p", type) * 2).named("made");
  }();
  {
    const auto here = g.on("gpu0");
    use(g, made, g.parameter("w", type));
  }
  return tinyPlan(requireGraph(std::move(g)), smallMachine(2), true);
}

Plan updatePlan(Shape shape) {
  return exchangePlan(std::move(shape),
                      [](Builder& g, Tensor made, Tensor w) { g.assign(w, (w - made).named("next")); });
}

Plan exchangingNet(int64_t batch) { return reducingNet(batch, AllReduce::Exchange, 2); }

Plan reducingNet(int64_t batch, AllReduce form, size_t gpus) {
  bench::MlpSpec spec;
  spec.batch = batch;
  spec.workers.clear();
  for (size_t i = 0; i < gpus; ++i) {
    spec.workers.push_back(fmt::format("gpu{}", i));
  }
  spec.owner = "";
  spec.reduction = form;
  const auto graph = bench::trainingStep(spec);
  REQUIRE(graph.ok());
  const auto machine = readMachine(shippedFile(gpus == 2 ? "tools/bench/results/h200x2.machine.json"
                                                         : "samples/machines/cpu-8gpu-nvlink.json")
                                       .string());
  REQUIRE(machine.ok());
  return requirePlan(*graph, *machine);
}

Plan scatteredPlan(uint64_t seed, size_t ops, int64_t mostElements, uint32_t gpus) {
  RandomGraphOptions shape;
  shape.ops = ops;
  shape.mostElements = mostElements;
  shape.zeroSized = seed % 2 == 0;
  if (seed % 3 != 0) { // many ops with single-pass kernels
    shape.kinds = {OpKind::Add,    OpKind::Mul,    OpKind::Relu,     OpKind::Neg,
                   OpKind::Select, OpKind::Matmul, OpKind::ReduceSum};
  }
  Dice dice(seed);
  const Graph graph =
      repinned(randomGraph(seed, shape), [&](OpId) { return fmt::format("gpu{}", dice.below(gpus)); });
  CompileOptions options;
  options.policy = "pins"; // which all ops have: no other placement is looked for
  return requirePlan(graph, smallMachine(gpus, 1, 1 + seed % 2), options);
}

} // namespace dfc::test
