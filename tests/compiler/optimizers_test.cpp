// The optimisers' arithmetic, three steps of it, against the formulas of their papers worked out beside them.
#include "compiler/interpreter/evaluate.h"
#include "ir/author/dsl.h"
#include "ir/author/gradients.h"
#include "ir/author/loss_scaling.h"
#include "ir/author/optimizers.h"
#include "tests/support/catch.h"

#include <cmath>

using namespace dfc;

namespace {

using Rule = std::vector<Tensor> (*)(const std::vector<Tensor>&, const std::vector<Tensor>&);

Graph graphOf(Rule rule) {
  Builder g;
  const Tensor w = g.parameter("w", f64({}));
  rule({w}, {g.input("g", f64({}))});
  Result<Graph> graph = std::move(g).finish();
  REQUIRE(graph.ok());
  return *std::move(graph);
}

// The weight after each of three steps from 1 with gradients 0.5, -2, 0.25.
constexpr std::array<double, 3> given = {0.5, -2, 0.25};

std::vector<double> weightsAfterSteps(const Graph& graph, NamedLiterals state) {
  std::vector<double> weights;
  for (const double gradient : given) {
    Result<Evaluation> step = evaluate(graph, {{"g", Literal::scalar(gradient)}}, state);
    REQUIRE(step.ok());
    state = std::move(step->parameters);
    weights.push_back(state.at("w").at(0));
  }
  return weights;
}

} // namespace

TEST_CASE("sgd: three steps") {
  const Graph graph = graphOf([](const auto& w, const auto& g) { return sgd(w, g, 0.1); });
  const std::vector<double> weights = weightsAfterSteps(graph, {{"w", Literal::scalar(1.0)}});
  CHECK(weights[0] == Approx(0.95));  // 1 - 0.1 * 0.5
  CHECK(weights[1] == Approx(1.15));  // 0.95 + 0.1 * 2
  CHECK(weights[2] == Approx(1.125)); // 1.15 - 0.1 * 0.25
}

TEST_CASE("momentum: three steps") {
  const Graph graph = graphOf([](const auto& w, const auto& g) { return momentum(w, g, 0.1, 0.5); });
  const std::vector<double> weights =
      weightsAfterSteps(graph, {{"w", Literal::scalar(1.0)}, {"w.momentum", Literal::scalar(0.0)}});
  CHECK(weights[0] == Approx(0.95));   // v = 0.5
  CHECK(weights[1] == Approx(1.125));  // v = 0.25 - 2 = -1.75
  CHECK(weights[2] == Approx(1.1875)); // v = -0.875 + 0.25 = -0.625
}

TEST_CASE("momentum with weight decay: three steps") {
  const Graph graph = graphOf([](const auto& w, const auto& g) {
    return momentum(w, g, {.rate = 0.1, .momentum = 0.5, .weightDecay = 0.2});
  });
  const std::vector<double> weights =
      weightsAfterSteps(graph, {{"w", Literal::scalar(1.0)}, {"w.momentum", Literal::scalar(0.0)}});
  CHECK(weights[0] == Approx(0.93));     // v = 0.5 + 0.2 * 1
  CHECK(weights[1] == Approx(1.0764));   // v = 0.35 - 2 + 0.2 * 0.93 = -1.464
  CHECK(weights[2] == Approx(1.103072)); // v = -0.732 + 0.25 + 0.2 * 1.0764 = -0.26672
}

TEST_CASE("adam: three steps") {
  const Graph graph = graphOf([](const auto& w, const auto& g) { return adam(w, g, {.rate = 0.1}); });
  const std::vector<double> weights = weightsAfterSteps(graph, {{"w", Literal::scalar(1.0)},
                                                                {"w.adamM", Literal::scalar(0.0)},
                                                                {"w.adamV", Literal::scalar(0.0)},
                                                                {"adam.beta1Power", Literal::scalar(1.0)},
                                                                {"adam.beta2Power", Literal::scalar(1.0)}});
  double m = 0, v = 0, w = 1;
  for (int t = 1; t <= 3; ++t) { // algorithm 1 of Kingma and Ba
    const double g = given[static_cast<size_t>(t - 1)];
    m = 0.9 * m + 0.1 * g;
    v = 0.999 * v + 0.001 * g * g;
    w -= 0.1 * (m / (1 - std::pow(0.9, t))) / (std::sqrt(v / (1 - std::pow(0.999, t))) + 1e-8);
    CHECK(weights[static_cast<size_t>(t - 1)] == Approx(w));
  }
  CHECK(weights[0] == Approx(0.9)); // the first step is the rate itself, whatever the gradient's size
}

TEST_CASE("adam with weight decay: three steps") {
  const Graph graph =
      graphOf([](const auto& w, const auto& g) { return adam(w, g, {.rate = 0.1, .weightDecay = 0.5}); });
  const std::vector<double> weights = weightsAfterSteps(graph, {{"w", Literal::scalar(1.0)},
                                                                {"w.adamM", Literal::scalar(0.0)},
                                                                {"w.adamV", Literal::scalar(0.0)},
                                                                {"adam.beta1Power", Literal::scalar(1.0)},
                                                                {"adam.beta2Power", Literal::scalar(1.0)}});
  double m = 0, v = 0, w = 1;
  for (int t = 1; t <= 3; ++t) { // algorithm 2 of Loshchilov and Hutter, whose lambda is rate * decay here
    const double g = given[static_cast<size_t>(t - 1)];
    m = 0.9 * m + 0.1 * g;
    v = 0.999 * v + 0.001 * g * g;
    const double step = m / (1 - std::pow(0.9, t)) / (std::sqrt(v / (1 - std::pow(0.999, t))) + 1e-8);
    w -= 0.1 * step + 0.1 * 0.5 * w;
    CHECK(weights[static_cast<size_t>(t - 1)] == Approx(w));
  }
  CHECK(weights[0] == Approx(0.85)); // the rate itself and, apart from it, a twentieth of the weight
}

TEST_CASE("loss scaling: a step whose gradients are not finite changes the scale alone") {
  Builder g;
  const Tensor w = g.parameter("w", f32({}));
  LossScaling scaling(g, {.initial = 8, .interval = 2, .most = 8});
  const auto d = scaling.unscaled(gradients(scaling.scaled(w * g.input("x", f32({}))), {w}));
  momentum({w}, d, {.rate = 0.5, .momentum = 0.5, .onlyIf = scaling.finite()});
  const Graph graph = *std::move(g).finish();
  struct Step {
    float x, w, velocity, scale, finiteSteps;
  };
  const float infinite = std::numeric_limits<float>::infinity();
  NamedLiterals state;
  for (const auto& [name, value] : {std::pair("w", 1.0F), std::pair("w.momentum", 0.0F),
                                    std::pair("lossScale", 8.0F), std::pair("lossScale.finiteSteps", 0.0F)}) {
    state[name] = Literal::scalar(value);
  }
  for (const Step& step : {Step{2, 0, 2, 8, 1},                                   // v = 2
                           Step{infinite, 0, 2, 4, 0},                            // skipped
                           Step{std::nanf(""), 0, 2, 2, 0}, Step{1, -1, 2, 2, 1}, // v = 1 + 1
                           Step{1, -2, 2, 4, 0},             // grows after two finite steps
                           Step{0, -2.5, 1, 4, 1},           // v = 1
                           Step{0, -2.75, 0.5, 8, 0},        // grows
                           Step{0, -2.875, 0.25, 8, 1},      // v = 0.25
                           Step{0, -2.9375, 0.125, 8, 0}}) { // never above `most`
    Result<Evaluation> run = evaluate(graph, {{"x", Literal::scalar(step.x)}}, state);
    REQUIRE(run.ok());
    state = std::move(run->parameters);
    CHECK(state.at("w").at(0) == step.w);
    CHECK(state.at("w.momentum").at(0) == step.velocity);
    CHECK(state.at("lossScale").at(0) == step.scale);
    CHECK(state.at("lossScale.finiteSteps").at(0) == step.finiteSteps);
  }
}

TEST_CASE("loss scaling: a run of steps that are not finite costs no weight, however long it is") {
  Builder g;
  const Tensor w = g.parameter("w", f32({}));
  LossScaling scaling(g);
  const auto d = scaling.unscaled(gradients(scaling.scaled(w * g.input("x", f32({}))), {w}));
  g.assign(w, select(scaling.finite(), w - d[0] * 0.5, w));
  const Graph graph = *std::move(g).finish();
  NamedLiterals state = {{"w", Literal::scalar(3.0F)},
                         {"lossScale", Literal::scalar(65536.0F)},
                         {"lossScale.finiteSteps", Literal::scalar(0.0F)}};
  const auto step = [&](float x) {
    state = evaluate(graph, {{"x", Literal::scalar(x)}}, state)->parameters;
    return state.at("w").at(0);
  };
  for (int i = 0; i < 300; ++i) { // 2^16 halved 300 times is 0 in f32
    REQUIRE(step(i % 2 == 0 ? std::numeric_limits<float>::infinity() : std::nanf("")) == 3);
  }
  CHECK(state.at("lossScale").at(0) == 1);
  CHECK(step(2) == 2);
  state["lossScale"] = Literal::scalar(0.0F); // of another program: a gradient of 0 divided by 0
  CHECK(step(2) == 2);
  CHECK(state.at("lossScale").at(0) == 1);
  CHECK(step(2) == 1);
}

TEST_CASE("loss scaling: a gradient that the division by the scale makes infinite is not finite") {
  Builder g;
  const Tensor w = g.parameter("w", f32({})), x = g.input("x", f32({})), y = g.input("y", f32({}));
  LossScaling scaling(g, {.initial = 0x1p-20, .least = 0x1p-30});
  const auto d = scaling.unscaled(gradients(scaling.scaled(w * x * y), {w}));
  g.assign(w, select(scaling.finite(), w - d[0], w));
  const Graph graph = *std::move(g).finish();
  const NamedLiterals state = {{"w", Literal::scalar(3.0F)},
                               {"lossScale", Literal::scalar(0x1p-20F)},
                               {"lossScale.finiteSteps", Literal::scalar(0.0F)}};
  const NamedLiterals feeds = {{"x", Literal::scalar(0x1p100F)}, {"y", Literal::scalar(0x1p40F)}};
  const auto run = evaluate(graph, feeds, state); // 2^40 * 2^-20 * 2^100 is finite, and times 2^20 is not
  REQUIRE(run.ok());
  CHECK(run->parameters.at("w").at(0) == 3);
  CHECK(run->parameters.at("lossScale").at(0) == 0x1p-21);
}

TEST_CASE("loss scaling: adam keeps its moments and powers in a step that is skipped") {
  Builder g;
  const Tensor w = g.parameter("w", f32({2}));
  LossScaling scaling(g);
  const auto d = scaling.unscaled(gradients(scaling.scaled(reduceSum(w * g.input("x", f32({2})))), {w}));
  adam({w}, d, {.onlyIf = scaling.finite()});
  const Graph graph = *std::move(g).finish();
  NamedLiterals state;
  for (const OpId op : graph.opsOf(OpKind::Parameter)) {
    const TensorType& type = graph.typeOf(graph[op].firstResult);
    Literal value(type);
    for (int64_t i = 0; i < type.shape.elements(); ++i) {
      value.set(i, 0.5);
    }
    state[std::string(graph.nameOf(op))] = value;
  }
  Literal x(f32({2}));
  x.set(0, std::numeric_limits<double>::infinity());
  Result<Evaluation> run = evaluate(graph, {{"x", x}}, state);
  REQUIRE(run.ok());
  size_t unchanged = 0;
  for (const auto& [name, value] : run->parameters) {
    if (!name.starts_with("lossScale")) {
      ++unchanged;
      CHECK(value == state.at(name));
    }
  }
  CHECK(unchanged == 5); // the weight, two moments, two powers
}

TEST_CASE("gradient clipping: by the norm of all gradients together") {
  const auto clipped = [](double first, double second, double most) {
    Builder g;
    const auto results = clipByGlobalNorm({g.input("a", f32({})), g.input("b", f32({1}))}, most);
    g.fetch("a.clipped", results[0]);
    g.fetch("b.clipped", results[1]);
    const Graph graph = *std::move(g).finish();
    Literal b(f32({1}));
    b.set(0, second);
    Result<Evaluation> run =
        evaluate(graph, {{"a", Literal::scalar(static_cast<float>(first))}, {"b", b}}, {});
    REQUIRE(run.ok());
    return std::pair(run->fetches.at("a.clipped").at(0), run->fetches.at("b.clipped").at(0));
  };
  CHECK(clipped(3, 4, 2.5) == std::pair(1.5, 2.0)); // a norm of 5, halved
  CHECK(clipped(3, 4, 10) == std::pair(3.0, 4.0));
  CHECK(clipped(0, 0, 1) == std::pair(0.0, 0.0));
}
