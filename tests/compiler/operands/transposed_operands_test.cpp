// Transposed copies of operands: which products read them, that results keep their bits, and that plans have
// them where there is memory.
#include "compiler/operands/transposed_operands.h"

#include "compiler/compile.h"
#include "compiler/interpreter/evaluate.h"
#include "compiler/place/memory_demand.h"
#include "compiler/place/place.h"
#include "compiler/run_passes.h"
#include "ir/plan/executable_parts.h"
#include "ir/verify/verify.h"
#include "tests/support/catch.h"
#include "tests/support/parsed.h"
#include "tests/support/random_values.h"
#include "tests/support/tiny_plan.h"

#include <fmt/format.h>

namespace dfc::test {
namespace {

constexpr int batch = 64, width = 32;

/// Products in a chain, with gradient descent behind them: the gradient of each weight sums over the batch.
Graph chain(int layers) {
  std::string text = fmt::format("graph net {{\n  input x : f32[{}, {}]\n", batch, width), now = "x";
  for (int i = 0; i < layers; ++i) {
    text += fmt::format("  parameter w{0} : f32[{1}, {1}] = glorot(seed={0})\n", i, width);
  }
  for (int i = 0; i < layers; ++i) {
    text += fmt::format("  h{0} = relu(matmul({1}, w{0}))\n", i, now);
    now = fmt::format("h{}", i);
  }
  return parsed(text +
                fmt::format("  loss = reduceMean({0} * {0})\n  sgd(loss, rate=0.1)\n  fetch loss\n}}", now));
}

/// Three weights of one input.
Graph threeHeads() {
  std::string text = fmt::format("graph net {{\n  input x : f32[{}, {}]\n", batch, width), sum;
  for (int i = 0; i < 3; ++i) {
    text += fmt::format("  parameter w{0} : f32[{1}, {1}] = glorot(seed={0})\n", i, width);
    sum += fmt::format("{}exp(matmul(x, w{}))", i == 0 ? "" : " + ", i);
  }
  return parsed(text + "  loss = reduceMean(" + sum + ")\n  sgd(loss, rate=0.1)\n  fetch loss\n}");
}

/// `strided`: rate of products whose inner dimension is contiguous in neither operand, in place of 1e9; 0:
/// the same.
Machine gpuWith(double strided, double memoryBandwidth = 1e10) {
  Machine machine = smallMachine(1);
  DeviceRow& gpu = machine.devices[machine.findDevice("gpu0")];
  gpu.stridedFlops.fill(strided);
  gpu.memoryBandwidth = memoryBandwidth;
  machine.devices[machine.host()].peakFlops.fill(1e6);
  return machine;
}

Placement onDevice(const Graph& written, const Machine& machine, const char* name = "gpu0") {
  const auto expanded = runPasses(PassPhase::Expand, written, machine, {});
  REQUIRE(expanded.ok());
  const auto rewritten = runPasses(PassPhase::Rewrite, *expanded, machine, {});
  REQUIRE(rewritten.ok());
  const auto fused = runPasses(PassPhase::Fuse, *rewritten, machine, {});
  REQUIRE(fused.ok());
  const RooflineCostModel cost;
  const PlacementProblem problem{*fused, machine, cost, SideTable<OpId, DeviceId>(fused->opCount()), {}};
  return placeOn(problem, machine.findDevice(name));
}

size_t stridedProducts(const Graph& graph) {
  size_t count = 0;
  for (const OpId op : graph.ops()) {
    count += costOf(graph[op].attributes, graph.operandTypesOf(op), graph.resultTypesOf(op)).product.strided
                 ? 1
                 : 0;
  }
  return count;
}

size_t transposes(const Graph& graph) { return graph.opsOf(OpKind::Transpose).size(); }

Executable compiled(const Graph& graph, const Machine& machine) {
  CompileOptions options;
  options.policy = "single";
  auto plan = compile(graph, machine, RooflineCostModel(), options);
  INFO(render(plan.errors()));
  REQUIRE(plan.ok());
  return *std::move(plan);
}

} // namespace

TEST_CASE("transposed operands: gradients of weights read copies, and keep their bits") {
  const Machine machine = gpuWith(4e8);
  const Placement before = onDevice(chain(3), machine);
  REQUIRE(stridedProducts(before.graph) == 3);
  REQUIRE(transposes(before.graph) == 0);
  const auto after = withTransposedOperands(before, machine);
  REQUIRE(after.has_value());
  CHECK(verifyGraph(after->graph).empty());
  CHECK(verifyPlacement(*after, machine).empty());
  CHECK(stridedProducts(after->graph) == 0);
  CHECK(transposes(after->graph) == 3);
  CHECK(after->graph.opCount() == before.graph.opCount() + 3);
  CHECK(after->policy == before.policy);

  const NamedLiterals feeds = randomFeeds(before.graph, 1), parameters = randomParameters(before.graph, 2);
  const auto expected = evaluate(before.graph, feeds, parameters),
             values = evaluate(after->graph, feeds, parameters);
  REQUIRE(expected.ok());
  REQUIRE(values.ok());
  CHECK(values->fetches == expected->fetches);
  CHECK(values->parameters == expected->parameters);
}

TEST_CASE("transposed operands: products of one operand share its copy") {
  const Machine machine = gpuWith(4e8);
  const Placement before = onDevice(threeHeads(), machine);
  REQUIRE(stridedProducts(before.graph) == 3);
  const auto after = withTransposedOperands(before, machine);
  REQUIRE(after.has_value());
  CHECK(stridedProducts(after->graph) == 0);
  REQUIRE(transposes(after->graph) == 1);
  const OpRow& copy = after->graph[after->graph.opsOf(OpKind::Transpose).front()];
  CHECK(after->graph.nameOf(copy.operands[0]) == "x");
}

TEST_CASE("transposed operands: none where the device states no rate, or the copy costs more than it gains") {
  CHECK_FALSE(withTransposedOperands(onDevice(chain(3), gpuWith(0)), gpuWith(0)));
  CHECK_FALSE(withTransposedOperands(onDevice(chain(3), gpuWith(9.5e8)), gpuWith(9.5e8)));
  const Machine slowMemory = gpuWith(4e8, 1e8);
  CHECK_FALSE(withTransposedOperands(onDevice(chain(3), slowMemory), slowMemory));
  const Machine machine = gpuWith(4e8);
  CHECK_FALSE(withTransposedOperands(onDevice(chain(3), machine, "cpu0"), machine));
}

TEST_CASE("transposed operands: plans have copies and are predicted to be quicker") {
  const Executable without = compiled(chain(3), gpuWith(0)), with = compiled(chain(3), gpuWith(4e8));
  CHECK(transposes(without.placed().graph) == 0);
  CHECK(transposes(with.placed().graph) == 3);
  // Eight products of equal work. Of these three would take 2.5 times as long.
  CHECK(with.predictedSeconds() > without.predictedSeconds());
  CHECK(with.predictedSeconds() < 1.2 * without.predictedSeconds());
}

TEST_CASE("transposed operands: where memory holds no copy, the plan is the one without copies") {
  // The product's operand `a` is read again behind it, so that a copy of it is one value of 64 KB more.
  const Graph graph = parsed("graph net {\n  input a : f32[512, 32]\n  input b : f32[512, 32]\n"
                             "  y = a * reduceSum(matmul(a, b, transposeA=true))\n  fetch y\n}");
  const Executable without = compiled(graph, gpuWith(0)), with = compiled(graph, gpuWith(4e8));
  REQUIRE(transposes(with.placed().graph) == 1);
  Machine machine = gpuWith(4e8);
  machine.devices[machine.findDevice("gpu0")].memoryBytes = 150'000;
  const Executable small = compiled(graph, machine);
  CHECK(transposes(small.placed().graph) == 0);
  CHECK(small.placed().graph.opCount() == without.placed().graph.opCount()); // nor in micro-batches
  CHECK(small.predictedSeconds() > with.predictedSeconds());
}

} // namespace dfc::test
