// The optimisers' arithmetic, three steps of it, against the formulas of their papers worked out beside them.
#include "compiler/interpreter/evaluate.h"
#include "ir/author/dsl.h"
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
