// Update rules, schedules and their aids, several steps of each, against the formulas of their papers worked
// out beside them in double.
#include "compiler/interpreter/evaluate.h"
#include "ir/author/dsl.h"
#include "ir/author/optimizers.h"
#include "ir/author/schedules.h"
#include "ir/graph/graph.h"
#include "tests/support/catch.h"
#include "tests/support/matchers.h"

#include <cmath>
#include <functional>
#include <numbers>

using namespace dfc;
using namespace dfc::test;

namespace {

constexpr size_t rows = 2, columns = 3, size = rows * columns, stepCount = 4;
using Values = std::array<double, size>;

// Gradients of four steps: some zero, some large, of both signs.
constexpr std::array<Values, stepCount> given = {Values{0.5, -2, 0, 1, 0.25, -0.125},
                                                 Values{1, 1, -1, 0.5, 3, 0}, Values{-0.5, 0.25, 8, -1, 0, 2},
                                                 Values{0, 0, 1, -4, 0.5, 1}};
constexpr Values begin = {1, -1, 0.5, 2, 0, -0.25};

Literal literalOf(const Values& values) {
  return Literal(Shape{int64_t(rows), int64_t(columns)}, std::span<const double>(values));
}

struct Training {
  Builder g;
  Tensor w = g.parameter("w", f64({rows, columns}));
  Tensor d = g.input("g", f64({rows, columns}));
};

/// All values of a parameter behind each step, and of the fetches.
struct History {
  std::vector<NamedLiterals> states, fetches;
  Values weights(size_t step, const std::string& name = "w") const {
    Values values{};
    for (size_t i = 0; i < size; ++i) {
      values[i] = states[step].at(name).at(int64_t(i));
    }
    return values;
  }
};

NamedLiterals firstState(const Graph& graph) {
  NamedLiterals state;
  for (const OpId op : graph.opsOf(OpKind::Parameter)) {
    const bool ones = graph[op].getIf<ops::Parameter>()->initialiser == Initialiser::Kind::Constant;
    state.emplace(std::string(graph.nameOf(op)),
                  filledLiteral(graph.typeOf(graph[op].firstResult), ones ? 1 : 0));
  }
  if (state.count("w") > 0) {
    state.at("w") = literalOf(begin);
  }
  return state;
}

History run(Builder&& g, const NamedLiterals& more = {}) {
  Result<Graph> graph = std::move(g).finish();
  INFO(render(graph.errors()));
  REQUIRE(graph.ok());
  History history;
  NamedLiterals state = firstState(*graph);
  for (const Values& gradient : given) {
    NamedLiterals feeds;
    for (const NamedType& input : graph->inputs()) {
      feeds.emplace(input.name, input.name == "g" ? literalOf(gradient) : more.at(input.name));
    }
    Result<Evaluation> step = evaluate(*graph, feeds, state);
    INFO(render(step.errors()));
    REQUIRE(step.ok());
    state = step->parameters;
    history.states.push_back(state);
    history.fetches.push_back(step->fetches);
  }
  return history;
}

/// `next` gives the weights of the reference from the gradients of step t, from 1.
void expect(const History& history, const std::function<void(Values& w, const Values& g, int t)>& next) {
  Values w = begin;
  for (size_t step = 0; step < stepCount; ++step) {
    next(w, given[step], int(step) + 1);
    const Values got = history.weights(step);
    for (size_t i = 0; i < size; ++i) {
      INFO("step " << step << ", element " << i);
      CHECK(got[i] == Approx(w[i]).epsilon(1e-9).margin(1e-12));
    }
  }
}

double sign(double a) { return a > 0 ? 1 : a < 0 ? -1 : 0; }

} // namespace

TEST_CASE("momentum by Nesterov: four steps") {
  Training t;
  momentum({t.w}, {t.d}, {.rate = 0.1, .momentum = 0.9, .weightDecay = 0.01, .nesterov = true});
  Values v{};
  expect(run(std::move(t.g)), [&](Values& w, const Values& g, int) {
    for (size_t i = 0; i < size; ++i) {
      const double d = g[i] + 0.01 * w[i];
      v[i] = 0.9 * v[i] + d;
      w[i] -= 0.1 * (d + 0.9 * v[i]);
    }
  });
}

TEST_CASE("lion: four steps") {
  Training t;
  lion({t.w}, {t.d}, {.rate = 0.01, .beta1 = 0.9, .beta2 = 0.99, .weightDecay = 0.1});
  Values m{};
  expect(run(std::move(t.g)), [&](Values& w, const Values& g, int) {
    for (size_t i = 0; i < size; ++i) {
      w[i] -= 0.01 * (sign(0.9 * m[i] + 0.1 * g[i]) + 0.1 * w[i]);
      m[i] = 0.99 * m[i] + 0.01 * g[i];
    }
  });
}

TEST_CASE("adafactor: four steps, the second moment from the edges of a matrix") {
  Training t;
  adafactor({t.w}, {t.d}, {.rate = 0.05, .weightDecay = 0.1});
  std::array<double, rows> r{};
  std::array<double, columns> c{};
  expect(run(std::move(t.g)), [&](Values& w, const Values& g, int step) { // algorithm 4
    const double decay = 1 - std::pow(step, -0.8);
    Values u{};
    double meanOfRows = 0, squares = 0, weights = 0;
    for (size_t i = 0; i < rows; ++i) {
      double sum = 0;
      for (size_t j = 0; j < columns; ++j) {
        sum += g[i * columns + j] * g[i * columns + j] + 1e-30;
      }
      r[i] = decay * r[i] + (1 - decay) * sum / double(columns);
      meanOfRows += r[i] / double(rows);
    }
    for (size_t j = 0; j < columns; ++j) {
      double sum = 0;
      for (size_t i = 0; i < rows; ++i) {
        sum += g[i * columns + j] * g[i * columns + j] + 1e-30;
      }
      c[j] = decay * c[j] + (1 - decay) * sum / double(rows);
    }
    for (size_t i = 0; i < size; ++i) {
      u[i] = g[i] / std::sqrt(r[i / columns] * c[i % columns] / meanOfRows);
      squares += u[i] * u[i] / double(size);
      weights += w[i] * w[i] / double(size);
    }
    const double rate = 0.05, scale = std::max(1e-3, std::sqrt(weights));
    for (size_t i = 0; i < size; ++i) {
      w[i] -= rate * 0.1 * w[i] + rate * scale * u[i] / std::max(1.0, std::sqrt(squares));
    }
  });
}

TEST_CASE("adafactor of a vector keeps its second moment whole") {
  Builder g;
  const Tensor w = g.parameter("w", f64({3}), constantInit(1)), d = g.input("g", f64({3}));
  adafactor({w}, {d}, {.rate = 0.1, .scaleByParameter = false});
  const Graph graph = std::move(g).finish().orThrow();
  const Literal gradient = Literal::of<double>({3}, {0.5, -1, 0});
  NamedLiterals state;
  for (const OpId op : graph.opsOf(OpKind::Parameter)) {
    state.emplace(std::string(graph.nameOf(op)), filledLiteral(graph.typeOf(graph[op].firstResult), 0));
  }
  state.at("w") = Literal::of<double>({3}, {1, 1, 1});
  const auto step = evaluate(graph, {{"g", gradient}}, state);
  REQUIRE(step.ok());
  // At step 1 nothing is kept: the update is the sign, whose root mean square, sqrt(2 / 3), is not clipped.
  const Literal& next = step->parameters.at("w");
  CHECK(next.at(0) == Approx(0.9));
  CHECK(next.at(1) == Approx(1.1));
  CHECK(next.at(2) == Approx(1));
}

TEST_CASE("a rate may be a number, an input or a schedule, and a mask spares names from weight decay") {
  const auto trained = [](const std::function<Operand(Builder&)>& rate, std::vector<std::string> noDecay) {
    Training t;
    const Operand chosen = rate(t.g);
    adam({t.w}, {t.d}, {.rate = chosen, .weightDecay = 0.5, .noDecay = std::move(noDecay)});
    return run(std::move(t.g), {{"rate", Literal::scalar(0.125)}});
  };
  const auto number = [](Builder&) { return Operand(0.125); };
  const auto input = [](Builder& g) { return Operand(g.input("rate", f64({}))); };
  CHECK(trained(number, {}).weights(3) == trained(input, {}).weights(3));
  CHECK(trained(number, {"w*"}).weights(3) != trained(number, {}).weights(3));
  Training t;
  adam({t.w}, {t.d}, {.rate = 0.125});
  CHECK(trained(number, {"?"}).weights(3) == run(std::move(t.g)).weights(3));

  Training s;
  const Tensor step = s.g.step();
  CHECK(s.g.step().value() == step.value()); // one for all
  sgd({s.w}, {s.d}, 0.5 * stepDecay(step, 2, 0.25));
  expect(run(std::move(s.g)), [](Values& w, const Values& g, int n) {
    for (size_t i = 0; i < size; ++i) {
      w[i] -= (n <= 2 ? 0.5 : 0.125) * g[i];
    }
  });
}

TEST_CASE("schedules over the steps of a training, and beyond their end") {
  Builder g;
  const Tensor step = g.step();
  g.fetch("step", step);
  g.fetch("warm", warmUp(step, 2));
  g.fetch("linear", linearDecay(step, 2, 0.5));
  g.fetch("cosine", cosineDecay(step - 1, 2, 0.25));
  g.fetch("steps", stepDecay(step, 2, 0.5));
  const History history = run(std::move(g));
  const std::array<double, 4> warm = {0.5, 1, 1, 1}, linear = {1, 0.75, 0.5, 0.5}, steps = {1, 1, 0.5, 0.5};
  for (size_t i = 0; i < stepCount; ++i) {
    const NamedLiterals& at = history.fetches[i];
    CHECK(at.at("step").at(0) == double(i));
    CHECK(at.at("warm").at(0) == Approx(warm[i]));
    CHECK(at.at("linear").at(0) == Approx(linear[i]));
    const double passed = std::clamp((double(i) - 1) / 2, 0.0, 1.0);
    CHECK(at.at("cosine").at(0) == Approx(0.25 + 0.75 * 0.5 * (1 + std::cos(std::numbers::pi * passed))));
    CHECK(at.at("steps").at(0) == Approx(steps[i]));
  }
}

TEST_CASE("accumulated gradients: two steps are one with their mean") {
  Training t;
  const Accumulated mean = accumulateGradients({t.w}, {t.d}, 2);
  momentum({t.w}, mean.gradients, {.rate = 0.1, .onlyIf = mean.ready});
  Values v{}, sum{};
  expect(run(std::move(t.g)), [&](Values& w, const Values& g, int n) {
    for (size_t i = 0; i < size; ++i) {
      sum[i] += g[i];
      if (n % 2 == 0) {
        v[i] = 0.9 * v[i] + sum[i] / 2;
        w[i] -= 0.1 * v[i];
        sum[i] = 0;
      }
    }
  });
}

TEST_CASE("moving averages: a plain mean at first, then with the decay") {
  Training t;
  movingAverages({t.w}, sgd({t.w}, {t.d}, 0.1), 0.6);
  const History history = run(std::move(t.g));
  Values average{};
  for (size_t step = 0; step < stepCount; ++step) {
    const double kept = std::min(0.6, double(step) / double(step + 1)); // 0, 1/2, 0.6, 0.6
    for (size_t i = 0; i < size; ++i) {
      average[i] = kept * average[i] + (1 - kept) * history.weights(step)[i];
      CHECK(history.weights(step, "w.average")[i] == Approx(average[i]));
    }
  }
}

TEST_CASE("clipping by a norm that is a value of the graph") {
  Training t;
  const auto clipped = clipByGlobalNorm({t.d}, t.g.input("most", f32({})));
  t.g.fetch("clipped", clipped[0]);
  const History history = run(std::move(t.g), {{"most", Literal::scalar(1.0F)}});
  double squares = 0;
  for (const double g : given[0]) {
    squares += g * g;
  }
  CHECK(history.fetches[0].at("clipped").at(1) == Approx(-2 / std::sqrt(squares)));
}

TEST_CASE("update rules: mistakes, each at the call") {
  Builder g;
  const Tensor w = g.parameter("w", f32({2})), d = g.input("d", f32({2}));
  sgd({w}, {d}, d);
  lion({w}, {d}, {.beta1 = 1});
  adafactor({w}, {d}, {.clip = 0});
  accumulateGradients({w}, {d}, 0);
  movingAverages({w}, {d}, 1);
  warmUp(g.step(), 0);
  stepDecay(g.step(), 1, -1);
  adam({w}, {d}, {.rate = Tensor()});
  const auto graph = std::move(g).finish();
  REQUIRE(!graph.ok());
  const std::string text = render(graph.errors());
  for (const std::string message :
       {"sgd with a rate of f32[2]", "lion with beta1 1, beta2 0.99, weight decay 0",
        "adafactor with a decay exponent of 0.8, epsilons of 1e-30 and 0.001, clip 0, weight decay 0",
        "gradients accumulated over 0 steps", "moving averages with a decay of 1",
        "warmUp over 0 steps of i64[]", "stepDecay by a factor of -1",
        "adam with an empty Tensor for a rate"}) {
    CHECK_THAT(text, containing("training_rules_test.cpp:"));
    CHECK_THAT(text, containing(message));
  }
  CHECK(graph.errors().size() == 8);
}
