#include "tests/support/differences.h"

#include "compiler/interpreter/evaluate.h"
#include "ir/author/dsl.h"
#include "ir/author/gradients.h"
#include "tests/support/catch.h"

#include <fmt/format.h>

namespace dfc::test {
namespace {

struct Problem {
  Graph graph;
  NamedLiterals feeds;
  std::vector<std::string>
      floats; ///< the inputs with a gradient; d loss / d x is fetched under the name of x
};

// In [0.25, 2): every op is smooth there but for ties, which random values do not have. Labels are 0 or 1.
Literal anyValue(const TensorType& type, Dice& dice) {
  Literal literal(type);
  for (int64_t i = 0; i < type.shape.elements(); ++i) {
    literal.set(i, isFloat(type.element) ? 0.25 + 1.75 * dice.unit() : static_cast<double>(dice.below(2)));
  }
  return literal;
}

// A loss that weighs every element of `tensor` differently, so that no error cancels in a sum.
Tensor weighed(Builder& g, Tensor tensor, Dice& dice) {
  const Tensor value = isFloat(tensor.type().element) ? tensor : cast(tensor, ElementType::F64);
  Literal weights({ElementType::F64, value.shape()});
  for (int64_t i = 0; i < value.shape().elements(); ++i) {
    weights.set(i, dice.unit() - 0.5);
  }
  return reduceSum(value * g.constant(weights));
}

// `order` 2: the loss is a weighed sum of the first gradients.
Problem pose(const Formula& formula, const std::vector<TensorType>& types, int order, uint64_t seed) {
  Dice dice(seed);
  Builder g;
  Problem problem;
  std::vector<Tensor> operands, xs;
  for (size_t i = 0; i < types.size(); ++i) {
    const std::string name = fmt::format("x{}", i);
    operands.push_back(g.input(name, types[i]));
    problem.feeds.emplace(name, anyValue(types[i], dice));
    if (isFloat(types[i].element)) {
      xs.push_back(operands.back());
      problem.floats.push_back(name);
    }
  }
  Tensor loss = weighed(g, formula(operands), dice);
  for (int i = 1; i < order; ++i) {
    Tensor sum = g.scalar(ElementType::F64, 0);
    for (const Tensor& gradient : gradients(loss, xs)) {
      sum = sum + weighed(g, gradient, dice);
    }
    loss = sum;
  }
  g.fetch("loss", loss);
  const std::vector<Tensor> results = gradients(loss, xs);
  for (size_t i = 0; i < xs.size(); ++i) {
    g.fetch(problem.floats[i], results[i]);
  }
  Result<Graph> graph = std::move(g).finish();
  INFO(render(graph.errors()));
  REQUIRE(graph.ok());
  problem.graph = *std::move(graph);
  return problem;
}

NamedLiterals valuesOf(const Problem& problem, const NamedLiterals& feeds) {
  Result<Evaluation> evaluation = evaluate(problem.graph, feeds);
  INFO(render(evaluation.errors()));
  REQUIRE(evaluation.ok());
  return std::move(evaluation->fetches);
}

double lossAt(const Problem& problem, const std::string& name, int64_t element, double value) {
  NamedLiterals feeds = problem.feeds;
  feeds.at(name).set(element, value);
  return valuesOf(problem, feeds).at("loss").at(0);
}

// Truncation is of the order of step^2 times the third derivative, rounding of 1e-16 over step: with a step
// of 1e-5 both are near 1e-10, and a wrong rule is off by far more than 1e-6.
void checkAgainstDifferences(const Problem& problem) {
  constexpr double step = 1e-5;
  const NamedLiterals fetched = valuesOf(problem, problem.feeds);
  for (const std::string& name : problem.floats) {
    const Literal& x = problem.feeds.at(name);
    const Literal& gradient = fetched.at(name);
    REQUIRE(gradient.type() == x.type());
    for (int64_t i = 0; i < x.type().shape.elements(); ++i) {
      const double above = lossAt(problem, name, i, x.at(i) + step);
      const double below = lossAt(problem, name, i, x.at(i) - step);
      INFO(name << "[" << i << "]");
      CHECK(gradient.at(i) == Approx((above - below) / (2 * step)).epsilon(1e-6).margin(1e-6));
    }
  }
}

} // namespace

void checkDifferences(const Formula& formula, const std::vector<TensorType>& types, int order,
                      uint64_t seed) {
  checkAgainstDifferences(pose(formula, types, order, seed));
}

} // namespace dfc::test
