// What the compiler may do with custom ops: share and drop those that are pure, keep all others; price them
// by their author's seconds; place them on the kinds of device that have some; run each on one device of a
// split.
#include "compiler/compile.h"
#include "compiler/cost/calibrated_cost_model.h"
#include "compiler/interpreter/evaluate.h"
#include "compiler/passes/passes.h"
#include "ir/author/text/parse.h"
#include "ir/graph/graph.h"
#include "ir/plan/executable_parts.h"
#include "tests/support/catch.h"
#include "tests/support/matchers.h"
#include "tests/support/tiny_plan.h"

#include <cmath>

using namespace dfc;
using namespace dfc::test;

namespace {

Graph customGraph(const std::string& text) {
  Result<Graph> graph = parseGraph("graph g {\n" + text + "}\n", "g.dfg");
  INFO(render(graph.errors()));
  REQUIRE(graph.ok());
  return *std::move(graph);
}

size_t customsOf(const Graph& graph) { return graph.opsOf(OpKind::Custom).size(); }

Machine machineWithGpus(uint32_t gpus) {
  Machine machine = smallMachine(gpus);
  machine.devices[machine.host()].threads = 8;
  return machine;
}

Result<Executable> compiled(const Graph& graph, uint32_t gpus, const std::string& policy) {
  CompileOptions options;
  options.policy = policy;
  return compile(graph, machineWithGpus(gpus), RooflineCostModel(), options);
}

std::string deviceOf(const Executable& plan, const std::string& value) {
  const Graph& graph = plan.graph();
  return plan.machine().devices[plan.placed().device[graph[graph.findValue(value)].producer]].name;
}

const std::string one = "custom(x, function=\"f\", types=\"f32[4]\", cpuSeconds=1e-3";
const CustomFunctions twice = {{"f", [](const CustomCall& call) {
                                  for (size_t i = 0; i < 4; ++i) {
                                    call.result<float>(0)[i] = 2 * call.operand<float>(0)[i];
                                  }
                                }}};

} // namespace

TEST_CASE("custom passes: pure calls are shared, others run each") {
  const auto shared = [&](const std::string& pure) {
    const Graph graph = customGraph("  input x : f32[4]\n  a = " + one + pure + ")\n  b = " + one + pure +
                                    ")\n  fetch s = a + b\n");
    return customsOf(*shareCommonOps(graph, {}));
  };
  CHECK(shared(", pure=true") == 1);
  CHECK(shared("") == 2);
}

TEST_CASE("custom passes: a pure call that nothing reads is left out, another runs") {
  const auto left = [&](const std::string& pure) {
    const Graph graph = customGraph("  input x : f32[4]\n  a = " + one + pure + ")\n  fetch s = x + 1\n");
    return customsOf(*dropDeadOps(graph, {}));
  };
  CHECK(left(", pure=true") == 0);
  CHECK(left("") == 1);
  const Graph kept = customGraph("  input x : f32[4]\n  a = " + one + ")\n  fetch s = x + 1\n");
  const auto plan = compiled(kept, 2, "auto"); // and it has memory, a step and a device
  INFO(render(plan.errors()));
  REQUIRE(plan.ok());
  CHECK(customsOf(plan->graph()) == 1);
}

TEST_CASE("custom passes: calls of constants are not folded") {
  const Graph graph =
      customGraph("  constant x : f32[4] = [1, 2, 3, 4]\n  a = " + one + ", pure=true)\n  fetch a\n");
  CHECK(customsOf(*foldConstants(graph, {})) == 1);
}

TEST_CASE("custom evaluate: the interpreter calls functions, and says what is wrong with them") {
  const Graph graph = customGraph("  input x : f32[4]\n  a = " + one + ")\n  fetch s = a + 1\n");
  const std::vector<float> values = {1, 2, 3, 4}, expected = {3, 5, 7, 9};
  const NamedLiterals feeds = {{"x", Literal({4}, std::span<const float>(values))}};
  const auto result = evaluate(graph, feeds, {}, twice);
  REQUIRE(result.ok());
  CHECK(result->fetches.at("s") == Literal({4}, std::span<const float>(expected)));
  const auto missing = evaluate(graph, feeds);
  REQUIRE(missing.errors().size() == 1);
  CHECK(missing.errors()[0].where.line == 3);
  CHECK_THAT(missing.errors()[0].message,
             containing("custom op 'a' calls 'f', and there is no such function"));
  const CustomFunctions wrong = {{"f", [](const CustomCall& call) { (void)call.operand<double>(0); }}};
  const auto failed = evaluate(graph, feeds, {}, wrong);
  REQUIRE(failed.errors().size() == 1);
  CHECK_THAT(failed.errors()[0].message, containing("operand 0 is f32[4], and the function takes f64"));
}

TEST_CASE("custom cost: the author's seconds on each kind of device, and never where there are none") {
  const Machine machine = machineWithGpus(1);
  const Graph graph =
      customGraph("  input x : f32[4]\n"
                  "  a = custom(x, function=\"f\", types=\"f32[4]\", cpuSeconds=2e-3, gpuSeconds=5e-4)\n"
                  "  b = custom(x, function=\"f\", types=\"f32[4]\", cpuSeconds=1e-3)\n"
                  "  fetch a\n  fetch b\n");
  const RooflineCostModel cost;
  const OpId a = graph.opsOf(OpKind::Custom)[0], b = graph.opsOf(OpKind::Custom)[1];
  const DeviceId cpu = machine.host(), gpu = machine.findDevice("gpu0");
  CHECK(cost.opSeconds(graph, a, machine, cpu) == 2e-3);
  CHECK(cost.opSeconds(graph, a, machine, gpu) == 5e-4);
  CHECK(cost.opSeconds(graph, b, machine, cpu) == 1e-3);
  CHECK(std::isinf(cost.opSeconds(graph, b, machine, gpu)));
  CHECK(cost.utilisation(graph, a, machine, cpu) == 0.125); // one thread of 8
  CHECK(cost.utilisation(graph, a, machine, gpu) == 1);
  CHECK(cost.utilisation(graph, b, machine, gpu) == 0);

  Machine named = machine; // and where its function was timed, as measured
  named.devices[cpu].model = "host";
  const CalibratedCostModel calibrated({{"host", {{signatureOf(graph, a), 4e-6, ""}}}}, cost);
  CHECK(calibrated.opSeconds(graph, a, named, cpu) == 4e-6);
  CHECK(calibrated.utilisation(graph, a, named, cpu) == 0.125);
  CHECK(calibrated.opSeconds(graph, b, named, cpu) == 1e-3);
  CHECK(std::isinf(calibrated.opSeconds(graph, b, named, gpu)));
}

TEST_CASE("custom placement: each op runs on a kind of device that it has seconds for") {
  const Graph graph = customGraph("  input x : f32[4]\n"
                                  "  a = custom(x, function=\"f\", types=\"f32[4]\", cpuSeconds=1e-3)\n"
                                  "  b = custom(a, function=\"f\", types=\"f32[4]\", gpuSeconds=1e-3)\n"
                                  "  c = custom(b, function=\"f\", types=\"f32[4]\", cpuSeconds=1e-3)\n"
                                  "  fetch c\n");
  for (const std::string policy : {"auto", "heft", "peft", "pins"}) {
    INFO(policy);
    const auto plan = compiled(graph, 2, policy);
    INFO(render(plan.errors()));
    if (policy == "pins") { // puts ops where their operands are
      CHECK_FALSE(plan.ok());
      continue;
    }
    REQUIRE(plan.ok());
    CHECK(deviceOf(*plan, "a") == "cpu0");
    CHECK(deviceOf(*plan, "b").starts_with("gpu"));
    CHECK(deviceOf(*plan, "c") == "cpu0");
  }
  const auto nowhere = compiled(graph, 0, "auto");
  REQUIRE(nowhere.errors().size() == 1);
  CHECK(nowhere.errors()[0].where.line == 4);
  CHECK(nowhere.errors()[0].message == "custom op 'b' cannot run on any device: it has gpuSeconds alone");
  CHECK(nowhere.errors()[0].hint ==
        "give it cpuSeconds, or let it run on a gpu: pin it there, or choose policy auto");
  const auto pinned =
      compiled(customGraph("  input x : f32[4]\n  a = " + one + ") on gpu0\n  fetch a\n"), 1, "auto");
  REQUIRE(pinned.errors().size() == 1);
  CHECK(pinned.errors()[0].message ==
        "custom op 'a' cannot run on gpu0, where it has to: it has cpuSeconds alone");
}

TEST_CASE("custom passes: operands keep the types that the author wrote, whatever precision and layout") {
  const Graph graph =
      customGraph("  input x : f32[4, 8, 12, 6]\n"
                  "  parameter f : f32[16, 8, 3, 3] = heNormal(seed=1)\n"
                  "  parameter s : f32[16] = constant(1)\n"
                  "  parameter w : f32[16, 32] = glorot(seed=2)\n"
                  "  y, m, v = batchNormTraining(conv2d(x, f, low=[1, 1], high=[1, 1]), s, s)\n"
                  "  z = relu(y)\n"
                  "  p = maxPool(z, window=[2, 2], strides=[2, 2])\n"
                  "  h = matmul(reduceMean(p, axes=[2, 3]), w)\n"
                  "  a, b = custom(z, p, h, function=\"f\", types=\"f32[4, 16, 6, 3], f32[4, 32]\", "
                  "cpuSeconds=1e-6, gpuSeconds=1e-6)\n"
                  "  q = conv2d(a, reshape(slice(f, starts=[0, 0, 0, 0], ends=[16, 8, 3, 2]), shape=[3, 16, "
                  "4, 4]), low=[2, 2], high=[2, 2])\n"
                  "  fetch q\n  fetch t = b * 2\n");
  for (const Precision precision : {Precision::Ieee, Precision::Tf32, Precision::Bf16}) {
    CompileOptions options;
    options.precision = precision;
    options.policy = "single";
    const auto plan = compile(graph, machineWithGpus(2), RooflineCostModel(), options);
    INFO(render(plan.errors()));
    REQUIRE(plan.ok());
    const OpId op = plan->graph().opsOf(OpKind::Custom)[0];
    CHECK(toString(plan->graph().operandTypesOf(op)[0]) == "f32[4, 16, 12, 6]");
    CHECK(toString(plan->graph().operandTypesOf(op)[1]) == "f32[4, 16, 6, 3]");
    CHECK(toString(plan->graph().operandTypesOf(op)[2]) == "f32[4, 32]");
  }
}

TEST_CASE("custom split: in a split graph the op runs whole, on one device") {
  const Graph graph = customGraph("  input x : f32[4096, 4096]\n"
                                  "  parameter w : f32[4096, 4096] = normal(0, 0.02, seed=1)\n"
                                  "  h = relu(matmul(x, w))\n"
                                  "  m = reduceMean(h, axes=[0])\n"
                                  "  seen = custom(m, function=\"log\", types=\"f32[]\", cpuSeconds=1e-6, "
                                  "gpuSeconds=1e-6)\n"
                                  "  y = reduceSum(matmul(h, w))\n"
                                  "  fetch y\n");
  const auto plan = compiled(graph, 4, "split");
  INFO(render(plan.errors()));
  REQUIRE(plan.ok());
  INFO(plan->policy());
  CHECK_THAT(plan->policy(), containing("split over"));
  CHECK(customsOf(plan->graph()) == 1);

  CompileOptions options;
  options.splits = {SplitWish{"h", 0, "gpu*"}};
  Graph onCpu =
      customGraph("  input x : f32[64, 64]\n  h = x + 1\n"
                  "  seen = custom(h, function=\"log\", types=\"f32[]\", cpuSeconds=1e-6)\n  fetch seen\n");
  const auto refused = compile(onCpu, machineWithGpus(2), RooflineCostModel(), options);
  REQUIRE(refused.errors().size() == 1);
  CHECK_THAT(refused.errors()[0].message, containing("custom op 'seen' cannot run on gpu0"));
}
