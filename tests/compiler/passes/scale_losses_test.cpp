// scale_losses beside its golden cases: what a step changes, what the pass leaves alone, and gradients that
// the DSL has written.
#include "compiler/compile.h"
#include "compiler/interpreter/evaluate.h"
#include "compiler/passes/passes.h"
#include "ir/author/dsl.h"
#include "ir/author/gradients.h"
#include "ir/author/loss_scaling.h"
#include "ir/author/optimizers.h"
#include "ir/author/text/parse.h"
#include "ir/graph/graph.h"
#include "ir/graph/same_graph.h"
#include "ir/machine/machine.h"
#include "ir/plan/executable_parts.h"
#include "ir/verify/verify.h"
#include "runtime/executable_folder.h"
#include "tests/compiler/passes/training_step.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"
#include "tests/support/random_graph.h"

#include <limits>

namespace dfc {

using test::finishedStep;
using test::inF16;
using test::stepOf;
namespace {

Graph scaledStep(const Graph& graph) {
  const Result<Graph> scaled = scaleLosses(graph, inF16);
  INFO((scaled ? "" : render(scaled.errors())));
  REQUIRE(scaled.ok());
  REQUIRE(render(verifyGraph(*scaled)) == "");
  const Result<Graph> expanded = expandGradients(*scaled);
  REQUIRE(expanded.ok());
  return *expanded;
}

bool hasScale(const Graph& graph) { return graph.findValue("lossScale").valid(); }

/// Some state to begin with: of the step's own parameters random values.
NamedLiterals stateOf(const Graph& graph, double scale) {
  NamedLiterals state = test::randomParameters(graph, 5);
  for (auto& [name, value] : state) {
    if (name.ends_with("Power") || name.ends_with("adamV")) { // decays and squares: positive, and below 1
      for (int64_t i = 0; i < value.type().shape.elements(); ++i) {
        value.set(i, 0.25);
      }
    }
  }
  state["lossScale"] = Literal::scalar(static_cast<float>(scale));
  state["lossScale.finiteSteps"] = Literal::scalar(0.0F);
  return state;
}

Evaluation stepped(const Graph& graph, const NamedLiterals& feeds, const NamedLiterals& state) {
  NamedLiterals own;
  for (const NamedType& parameter : graph.parameters()) {
    own[parameter.name] = state.at(parameter.name);
  }
  Result<Evaluation> result = evaluate(graph, feeds, own);
  INFO((result ? "" : render(result.errors())));
  REQUIRE(result.ok());
  return *std::move(result);
}

/// By a power of two, in f32: a scaled step gives the bits of the plain one.
void checkSameStep(const Graph& plain, const Graph& scaled) {
  const NamedLiterals state = stateOf(scaled, 1024), feeds = test::randomFeeds(plain, 3);
  const Evaluation expected = stepped(plain, feeds, state), actual = stepped(scaled, feeds, state);
  for (const auto& [name, value] : expected.fetches) {
    INFO("fetch " << name);
    CHECK(test::bitDifference(value, actual.fetches.at(name)) == "");
  }
  for (const auto& [name, value] : expected.parameters) {
    INFO("parameter " << name);
    CHECK(test::bitDifference(value, actual.parameters.at(name)) == "");
  }
  CHECK(actual.parameters.at("lossScale").at(0) == 1024);
  CHECK(actual.parameters.at("lossScale.finiteSteps").at(0) == 1);
}

/// The names of the parameters that a step changes in which x is infinite.
std::vector<std::string> changedByInfinity(const Graph& scaled) {
  const NamedLiterals state = stateOf(scaled, 1024);
  NamedLiterals feeds = test::randomFeeds(scaled, 3);
  feeds.at("x").set(0, std::numeric_limits<double>::infinity());
  std::vector<std::string> changed;
  for (const auto& [name, value] : stepped(scaled, feeds, state).parameters) {
    if (test::bitDifference(state.at(name), value) != "") {
      changed.push_back(name);
    }
  }
  return changed;
}

using Names = std::vector<std::string>;

} // namespace

TEST_CASE("scale_losses: a step is the author's own with LossScaling, bit for bit") {
  const AdamOptions options{.rate = 0.1, .weightDecay = 0.1};
  const Graph plain = stepOf([&](Builder&, Tensor w, Tensor, Tensor loss) {
    adam({w}, clipByGlobalNorm(gradients(loss, {w}), 0.01), options);
  });
  const Graph own = stepOf([&](Builder& g, Tensor w, Tensor, Tensor loss) {
    LossScaling scaling(g);
    const auto d = clipByGlobalNorm(scaling.unscaled(gradients(scaling.scaled(loss), {w})), 0.01);
    AdamOptions careful = options;
    careful.onlyIf = scaling.finite();
    adam({w}, d, careful);
  });
  const Graph scaled = scaledStep(plain);
  checkSameStep(plain, scaled);
  NamedLiterals state = stateOf(scaled, 65536), feeds = test::randomFeeds(plain, 3);
  for (const double first : {1.0, std::numeric_limits<double>::infinity(), 0.5}) {
    feeds.at("x").set(0, first);
    const Evaluation expected = stepped(own, feeds, state), actual = stepped(scaled, feeds, state);
    CHECK(expected.parameters == actual.parameters);
    state = actual.parameters;
  }
  CHECK(state.at("lossScale").at(0) == 32768);
  CHECK(sameGraph(own, *scaleLosses(own, inF16)));
}

TEST_CASE("scale_losses: what does not depend on a gradient goes on in a step that is left out") {
  const Graph scaled = scaledStep(stepOf([](Builder& g, Tensor w, Tensor x, Tensor loss) {
    const Tensor mean = g.parameter("mean", f32({})), count = g.parameter("count", f32({})),
                 schedule = g.parameter("schedule", f32({})), average = g.parameter("average", f32({3, 4}));
    g.assign(mean, mean * 0.9 + reduceMean(x) * 0.1);
    const Tensor counted = g.assign(count, count + 1);
    const Tensor steps = g.assign(schedule, schedule + 1);
    const Tensor slope = gradients(loss * counted, {w})[0];
    const Tensor next = g.assign(w, w - slope / (steps + 1));
    g.assign(average, average * 0.9 + next * 0.1);
    g.fetch("steps", steps);
    g.fetch("slope", slope);
  }));
  CHECK(changedByInfinity(scaled) == Names{"count", "lossScale", "mean"});
}

TEST_CASE("scale_losses: a run of steps that are not finite costs no weight, however long it is") {
  const Graph scaled =
      scaledStep(stepOf([](Builder&, Tensor w, Tensor, Tensor loss) { adam({w}, gradients(loss, {w})); }));
  const NamedLiterals start = stateOf(scaled, 65536), finite = test::randomFeeds(scaled, 3);
  NamedLiterals state = start, feeds = finite;
  feeds.at("x").set(0, std::numeric_limits<double>::infinity());
  for (int i = 0; i < 300; ++i) { // 2^16 halved 300 times is 0 in f32
    state = stepped(scaled, feeds, state).parameters;
  }
  CHECK(state.at("lossScale").at(0) == 1);
  const NamedLiterals next = stepped(scaled, finite, state).parameters;
  for (const auto& [name, value] : start) {
    INFO(name);
    CHECK((test::bitDifference(value, state.at(name)) == "") == (name != "lossScale"));
    CHECK((test::bitDifference(value, next.at(name)) == "") == false);
  }
}

TEST_CASE("scale_losses: adam's powers wait for its moments") {
  const Graph scaled =
      scaledStep(stepOf([](Builder&, Tensor w, Tensor, Tensor loss) { adam({w}, gradients(loss, {w})); }));
  CHECK(scaled.parameters().size() == 7); // the weight, two moments, two powers, the scale, finite steps
  CHECK(changedByInfinity(scaled) == Names{"lossScale"});
}

TEST_CASE("scale_losses: several calls are one decision, wherever their updates were written") {
  const Graph plain = stepOf([](Builder& g, Tensor w, Tensor x, Tensor loss) {
    const Tensor v = g.parameter("v", f32({3, 4})), u = g.parameter("u", f32({}));
    g.assign(w, w - gradients(loss, {w})[0]);
    const Tensor second = reduceMean(abs(matmul(x * 0, v) + x.shape().elements() * 1.0));
    g.assign(v, v - gradients(second, {v})[0]);
    g.assign(u, u - gradients(sqrt(u * u + 1), {u})[0]);
  });
  const Graph scaled = scaledStep(plain);
  checkSameStep(plain, scaled);
  CHECK(changedByInfinity(scaled) == Names{"lossScale"}); // though the gradient by u is finite
}

TEST_CASE("scale_losses: an update that the step reads again is decided before the gradients behind it") {
  const Graph plain = stepOf([](Builder& g, Tensor w, Tensor x, Tensor) {
    const Tensor v = g.parameter("v", f32({3, 4}), normal(0, 1, 2)), mean = g.parameter("mean", f32({}));
    const Tensor next = g.assign(w, w - gradients(reduceSum(w * w), {w})[0]);
    const std::vector<Tensor> slopes = gradients(reduceMean(matmul(x, next * v)), {v, x});
    g.assign(mean, reduceMean(next));
    g.assign(v, v - slopes[0]);
    g.fetch("saliency", slopes[1]);
  });
  const Graph scaled = scaledStep(plain);
  checkSameStep(plain, scaled);
  CHECK(changedByInfinity(scaled) == Names{"lossScale", "w"}); // the mean is of the second decision
}

TEST_CASE("scale_losses: gradients of gradients, and gradients by values between") {
  const Graph plain = stepOf([](Builder& g, Tensor w, Tensor x, Tensor loss) {
    const Tensor h = tanh(matmul(x, w) * 2);
    const Tensor slope = gradients(reduceSum(h), {h, w})[1];
    const Tensor between = gradients(reduceSum(h * h), {h})[0];
    const Tensor penalised = loss + reduceSum(slope * slope) + reduceSum(between);
    const Tensor next = gradients(penalised, {w})[0].named("dw");
    g.fetch("slope", slope);
    g.fetch("dw", next);
    g.assign(w, w - next * 0.1);
  });
  const Graph scaled = scaledStep(plain);
  CHECK(scaled.findValue("dw").valid());
  checkSameStep(plain, scaled);
  CHECK(changedByInfinity(scaled) == Names{"lossScale"});
}

TEST_CASE("scale_losses: a gradient that is only fetched, of gradients that train") {
  const Graph plain = stepOf([](Builder& g, Tensor w, Tensor x, Tensor loss) {
    const std::vector<Tensor> slopes = gradients(loss, {w, x});
    g.fetch("saliency", slopes[1]);
    g.fetch("curvature", gradients(reduceSum(slopes[0] * slopes[0]), {x})[0]);
    g.assign(w, w - slopes[0]);
  });
  const Graph scaled = scaledStep(plain);
  checkSameStep(plain, scaled);
  CHECK(scaled.opsOf(OpKind::ReduceMax).size() == 1); // the gradient by w alone is asked
}

TEST_CASE("scale_losses: losses and parameters of f64, f16 and bf16") {
  for (const ElementType element : {ElementType::F64, ElementType::F16, ElementType::BF16}) {
    INFO(toString(TensorType{element, {}}));
    Builder g("other types");
    const Tensor w = g.parameter("w", {element, {4}}, constantInit(2)), x = g.input("x", {element, {4}});
    const Tensor slope = gradients(reduceSum(w * x), {w})[0];
    g.fetch("slope", slope);
    g.assign(w, w - slope);
    const Graph plain = finishedStep(std::move(g)), scaled = scaledStep(plain);
    checkSameStep(plain, scaled);
    CHECK(changedByInfinity(scaled) == Names{"lossScale"});
  }
}

TEST_CASE("scale_losses: other precisions, and steps that train nothing, stay as they are") {
  const Graph training =
      stepOf([](Builder&, Tensor w, Tensor, Tensor loss) { sgd({w}, gradients(loss, {w}), 1); });
  for (const Precision precision : {Precision::Unstated, Precision::Ieee, Precision::Tf32, Precision::Bf16}) {
    CHECK(sameGraph(training, *scaleLosses(training, {.precision = precision})));
  }
  CHECK(hasScale(*scaleLosses(training, inF16)));
  const Graph saliency = stepOf([](Builder& g, Tensor, Tensor x, Tensor loss) {
    g.fetch("saliency", gradients(loss, {x})[0]);
    const Tensor count = g.parameter("count", f32({}));
    g.assign(count, count + 1);
  });
  CHECK(sameGraph(saliency, *scaleLosses(saliency, inF16)));
}

TEST_CASE("scale_losses: the gradients of attention are scaled, too") {
  Builder g("attention");
  const Tensor q = g.parameter("q", f32({1, 1, 5, 8}), normal(0, 1, 1)), x = g.input("x", f32({1, 1, 5, 8}));
  const Tensor y = matmul(softmax(matmul(q, x, {.b = true})), x);
  const Tensor loss = reduceMean(y * y);
  g.assign(q, q - gradients(loss, {q})[0]);
  g.fetch("loss", loss);
  const Graph graph = finishedStep(std::move(g)), recognised = *recogniseAttention(graph, inF16);
  REQUIRE(recognised.opsOf(OpKind::AttentionGradient).size() == 1);
  const Graph scaled = scaledStep(recognised);
  CHECK(scaled.opsOf(OpKind::AttentionGradient).size() == 1);
  checkSameStep(recognised, scaled);
}

TEST_CASE("scale_losses: a plan of a graph file, and of devices, has the scale") {
  const Machine machine = *readMachine(shippedFile("samples/machines/cpu-2gpu.json").string());
  const Graph graph =
      *parseGraph(test::readText(shippedFile("tests/golden/scale_losses/update.dfg")), "u.dfg");
  CompileOptions options;
  for (const auto& [precision, scales] :
       {std::pair(Precision::F16, true), std::pair(Precision::Bf16, false)}) {
    options.precision = precision;
    const auto plan = compile(graph, machine, RooflineCostModel(), options);
    INFO((plan ? "" : render(plan.errors())));
    REQUIRE(plan.ok());
    CHECK(hasScale(plan->graph()) == scales);
  }
  options.precision = Precision::F16;
  options.skipPasses = {"scale_losses"};
  CHECK_FALSE(hasScale(compile(graph, machine, RooflineCostModel(), options)->graph()));
}

TEST_CASE("scale_losses: a gradient is divided where it was made, or where the author pinned it") {
  Builder g("pins");
  const Tensor x = g.input("x", f32({2, 3}));
  Tensor w, v, loss;
  {
    const auto on = g.on("gpu0");
    w = g.parameter("w", f32({3, 4}));
    v = g.parameter("v", f32({3, 4}));
    loss = reduceMean(matmul(x, w) * matmul(x, v));
  }
  const std::vector<Tensor> slopes = gradients(loss, {w, v});
  g.assign(w, w - slopes[0].named("dw"));
  g.assign(v, v - slopes[1].named("dv").on("gpu1")).on("gpu1");
  const Graph scaled = scaledStep(finishedStep(std::move(g)));
  for (const auto& [name, pin] : {std::pair("dw", "gpu0"), std::pair("dv", "gpu1")}) {
    const OpId op = scaled[scaled.findValue(name)].producer;
    CHECK(scaled.pinOf(op) == pin);
    CHECK(scaled.scopeOf(op) == "lossScale");
    CHECK(scaled.pinOf(scaled[scaled[op].operands[0]].producer) == pin);
  }
}

TEST_CASE("scale_losses: random training graphs stay sound, and scaling is decided by the graph alone") {
  size_t found = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    INFO("seed " << seed);
    test::RandomGraphOptions options;
    options.request = true;
    options.pins = seed % 3 == 0 ? std::vector<std::string>{"cpu", "gpu0"} : std::vector<std::string>{};
    const Graph graph = test::randomGraph(seed, options), scaled = *scaleLosses(graph, inF16);
    REQUIRE(render(verifyGraph(scaled)) == "");
    REQUIRE(sameGraph(scaled, *scaleLosses(graph, inF16)));
    REQUIRE(scaled.fetches().size() == graph.fetches().size());
    for (const NamedType& parameter : graph.parameters()) {
      REQUIRE(scaled.findValue(parameter.name).valid());
    }
    found += hasScale(scaled) ? 1 : 0;
    (void)scaledStep(graph);
  }
  CHECK(found >= 10);
}

} // namespace dfc
