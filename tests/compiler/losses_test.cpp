// Losses against formulas of their own in f64, and their gradients against differences; at the corners where
// a formula of less care gives NaN or a wrong derivative; and what they refuse.
#include "compiler/interpreter/evaluate.h"
#include "ir/author/gradients.h"
#include "ir/author/losses.h"
#include "ir/graph/graph.h"
#include "tests/support/catch.h"
#include "tests/support/differences.h"
#include "tests/support/matchers.h"

#include <fmt/format.h>

#include <cmath>

namespace dfc::test {
namespace {

const std::vector<double> predicted = {0.3, -2, 5, 0, 1.5, -0.25};
const std::vector<double> wanted = {1, -2.5, 1, 0, 0.25, 3};
const std::vector<double> probabilities = {1, 0, 0.25, 0.5, 0.75, 0.125};

Literal asF64(const Shape& shape, const std::vector<double>& values) {
  Literal literal(f64(shape));
  for (size_t i = 0; i < values.size(); ++i) {
    literal.set(static_cast<int64_t>(i), values[i]);
  }
  return literal;
}

Literal labelsOf(const std::vector<double>& values) {
  Literal literal(i64({static_cast<int64_t>(values.size())}));
  for (size_t i = 0; i < values.size(); ++i) {
    literal.set(static_cast<int64_t>(i), values[i]);
  }
  return literal;
}

/// "y" and, of inputs of f64, "<input>" for the gradient of the sum of y.
template <class Loss>
NamedLiterals valuesOf(const Loss& loss, const NamedLiterals& feeds) {
  Builder g;
  std::vector<Tensor> inputs, floats;
  for (const auto& [name, value] : feeds) {
    inputs.push_back(g.input(name, value.type()));
    if (isFloat(value.type().element)) {
      floats.push_back(inputs.back());
    }
  }
  const Tensor y = loss(inputs);
  g.fetch("y", y);
  const auto slopes = gradients(reduceSum(y), floats);
  for (size_t i = 0; i < floats.size(); ++i) {
    g.fetch(fmt::format("d{}", i), slopes[i]);
  }
  const Result<Graph> graph = std::move(g).finish();
  INFO(render(graph.errors()));
  REQUIRE(graph.ok());
  return evaluate(*graph, feeds).orThrow().fetches;
}

/// Of pairs [2, 3]: every element by `scalar`, and its mean and sum.
template <class Loss, class Scalar>
void checkElements(const Loss& loss, const std::vector<double>& targets, const Scalar& scalar) {
  const NamedLiterals feeds{{"a", asF64({2, 3}, predicted)}, {"b", asF64({2, 3}, targets)}};
  const auto by = [&](LossReduction reduction) {
    return valuesOf([&](const auto& x) { return loss(x[0], x[1], reduction); }, feeds).at("y");
  };
  const Literal each = by(LossReduction::None);
  REQUIRE(each.type().shape == Shape{2, 3});
  double sum = 0;
  for (size_t i = 0; i < predicted.size(); ++i) {
    const double expected = scalar(predicted[i], targets[i]);
    CHECK(each.at(static_cast<int64_t>(i)) == Approx(expected).epsilon(1e-12).margin(1e-15));
    sum += expected;
  }
  CHECK(by(LossReduction::Sum).at(0) == Approx(sum).epsilon(1e-12));
  CHECK(by(LossReduction::Mean).at(0) == Approx(sum / 6).epsilon(1e-12));
}

double logSigmoid(double x) { return -std::log1p(std::exp(-x)); }

double logSoftmaxAt(const std::vector<double>& row, size_t at) {
  double sum = 0;
  for (const double x : row) {
    sum += std::exp(x - row[at]);
  }
  return -std::log(sum);
}

std::string lossMistake(const std::function<Tensor(Builder&)>& write) {
  Builder g;
  g.fetch("y", write(g));
  const Result<Graph> graph = std::move(g).finish();
  REQUIRE_FALSE(graph.ok());
  CHECK(graph.errors().size() == 1);
  CHECK_THAT(graph.errors()[0].where.file, containing("losses_test"));
  return graph.errors()[0].message + " | " + graph.errors()[0].hint;
}

TEST_CASE("losses of elements are what their formulas say") {
  checkElements([](auto a, auto b, auto r) { return squaredError(a, b, r); }, wanted,
                [](double a, double b) { return (a - b) * (a - b); });
  checkElements([](auto a, auto b, auto r) { return absoluteError(a, b, r); }, wanted,
                [](double a, double b) { return std::fabs(a - b); });
  const auto huber = [](double a, double b, double delta) {
    const double error = std::fabs(a - b);
    return error <= delta ? error * error / 2 : delta * (error - delta / 2);
  };
  checkElements([](auto a, auto b, auto r) { return huberLoss(a, b, 0.6, r); }, wanted,
                [&](double a, double b) { return huber(a, b, 0.6); });
  checkElements([](auto a, auto b, auto r) { return smoothL1Loss(a, b, 0.6, r); }, wanted,
                [&](double a, double b) { return huber(a, b, 0.6) / 0.6; });
  checkElements([](auto a, auto b, auto r) { return smoothL1Loss(a, b, 0, r); }, wanted,
                [](double a, double b) { return std::fabs(a - b); });
  checkElements([](auto a, auto b, auto r) { return sigmoidCrossEntropy(a, b, r); }, probabilities,
                [](double x, double y) { return -y * logSigmoid(x) - (1 - y) * logSigmoid(-x); });
  checkElements([](auto a, auto b, auto r) { return sigmoidCrossEntropy(a, b, r, 3); }, probabilities,
                [](double x, double y) { return -3 * y * logSigmoid(x) - (1 - y) * logSigmoid(-x); });
}

TEST_CASE("losses: gradients of all operands agree with differences, of second order as well") {
  const std::vector<TensorType> pair = {f64({2, 3}), f64({2, 3})};
  const auto check = [&](const auto& loss) {
    checkDifferences([&](const auto& x) { return loss(x[0], x[1]); }, pair, 1);
    checkDifferences([&](const auto& x) { return loss(x[0], x[1]); }, pair, 2);
  };
  check([](Tensor a, Tensor b) { return squaredError(a, b); });
  check([](Tensor a, Tensor b) { return huberLoss(a, b, 0.4); });
  check([](Tensor a, Tensor b) { return smoothL1Loss(a, b, 0.4); });
  check([](Tensor a, Tensor b) { return sigmoidCrossEntropy(a, b, LossReduction::Mean, 2); });
  check([](Tensor a, Tensor b) { return klDivergence(logSoftmax(a), b); });
  check([](Tensor a, Tensor b) { return cosineSimilarity(a, b, 0); });
  check([](Tensor a, Tensor b) {
    return softmaxCrossEntropy(a, b, {.smoothing = 0.1, .ignored = {}, .reduction = LossReduction::Mean});
  });
  checkDifferences([](const auto& x) { return absoluteError(x[0], x[1]); }, pair);
  checkDifferences([](const auto& x) { return contrastiveLoss(x[0], x[1], 0.5); }, pair);
}

TEST_CASE("sigmoidCrossEntropy: large logits stay finite, and at 0 the derivative is 1/2 - target") {
  const NamedLiterals at =
      valuesOf([](const auto& x) { return sigmoidCrossEntropy(x[0], x[1], LossReduction::None); },
               {{"a", asF64({6}, {0, 0, 900, 900, -900, -900})}, {"b", asF64({6}, {0, 1, 1, 0, 0, 1})}});
  const double losses[] = {std::log(2), std::log(2), 0, 900, 0, 900}, slopes[] = {0.5, -0.5, 0, 1, 0, -1};
  for (int64_t i = 0; i < 6; ++i) {
    CHECK(at.at("y").at(i) == Approx(losses[i]).margin(1e-300));
    CHECK(at.at("d0").at(i) == Approx(slopes[i]).margin(1e-300));
  }
}

TEST_CASE("klDivergence: a target of 0 adds nothing, and a distribution has none from itself") {
  const std::vector<double> p = {0.5, 0.5, 0, 0.2, 0.3, 0.5}, x = {1, 2, 3, -1, 0, 1};
  const NamedLiterals at =
      valuesOf([](const auto& in) { return klDivergence(logSoftmax(in[0]), in[1], LossReduction::None); },
               {{"a", asF64({2, 3}, x)}, {"b", asF64({2, 3}, p)}});
  for (size_t row = 0; row < 2; ++row) {
    double expected = 0;
    for (size_t i = 0; i < 3; ++i) {
      const double target = p[3 * row + i];
      const double log = logSoftmaxAt({x[3 * row], x[3 * row + 1], x[3 * row + 2]}, i);
      expected += target == 0 ? 0 : target * (std::log(target) - log);
    }
    CHECK(at.at("y").at(static_cast<int64_t>(row)) == Approx(expected).epsilon(1e-12));
  }
  CHECK(std::isfinite(at.at("d1").at(2)));
  CHECK(valuesOf([](const auto& in) { return klDivergence(logSoftmax(in[0]), softmax(in[0])); },
                 {{"a", asF64({2, 3}, x)}})
            .at("y")
            .at(0) == Approx(0).margin(1e-15));
}

TEST_CASE("cosineSimilarity: the cosine; a vector of zeros is similar to none, and has a finite gradient") {
  const NamedLiterals at = valuesOf([](const auto& x) { return cosineSimilarity(x[0], x[1]); },
                                    {{"a", asF64({2, 2}, {3, 4, 0, 0})}, {"b", asF64({2, 2}, {4, 3, 1, 2})}});
  CHECK(at.at("y").type().shape == Shape{2});
  CHECK(at.at("y").at(0) == Approx(24.0 / 25));
  CHECK(at.at("y").at(1) == 0);
  for (int64_t i = 0; i < 4; ++i) {
    CHECK(std::isfinite(at.at("d0").at(i)));
  }
}

TEST_CASE("contrastiveLoss: log n of pairs that are all alike, little of pairs that match") {
  const auto loss = [](const auto& x) { return contrastiveLoss(x[0], x[1], 0.05); };
  const Literal alike = asF64({3, 2}, {1, 2, 1, 2, 1, 2});
  CHECK(valuesOf(loss, {{"a", alike}, {"b", alike}}).at("y").at(0) == Approx(std::log(3)));
  const Literal apart = asF64({2, 2}, {1, 0, 0, 5});
  CHECK(valuesOf(loss, {{"a", apart}, {"b", apart}}).at("y").at(0) == Approx(std::log1p(std::exp(-20.0))));
}

TEST_CASE("softmaxCrossEntropy: smoothing, ignored labels, probabilities and reductions") {
  const std::vector<double> x = {0.3, -2, 5, 0, 1.5, -0.25, 2, 2, 1};
  const Literal logits = asF64({3, 3}, x);
  const auto rowLoss = [&](size_t row, size_t label, double smoothing) {
    const std::vector<double> values(x.begin() + static_cast<ptrdiff_t>(3 * row),
                                     x.begin() + static_cast<ptrdiff_t>(3 * row + 3));
    double loss = 0;
    for (size_t i = 0; i < 3; ++i) {
      loss -= ((i == label ? 1 - smoothing : 0) + smoothing / 3) * logSoftmaxAt(values, i);
    }
    return loss;
  };
  const auto at = [&](const Literal& targets, const CrossEntropyOptions& options) {
    return valuesOf([&](const auto& in) { return softmaxCrossEntropy(in[0], in[1], options); },
                    {{"logits", logits}, {"targets", targets}})
        .at("y");
  };
  const Literal labels = labelsOf({2, 0, 1}), some = labelsOf({2, -100, 1}), none = labelsOf({-1, -1, -1});
  for (const double smoothing : {0.0, 0.1}) {
    const double rows[] = {rowLoss(0, 2, smoothing), rowLoss(1, 0, smoothing), rowLoss(2, 1, smoothing)};
    const double mean = (rows[0] + rows[1] + rows[2]) / 3;
    CHECK(at(labels, {.smoothing = smoothing}).at(0) == Approx(mean).epsilon(1e-12));
    CHECK(at(labels, {.smoothing = smoothing, .ignored = -100}).at(0) == Approx(mean).epsilon(1e-12));
    CHECK(at(some, {.smoothing = smoothing, .ignored = -100}).at(0) ==
          Approx((rows[0] + rows[2]) / 2).epsilon(1e-12));
    CHECK(at(some, {.smoothing = smoothing, .ignored = -100, .reduction = LossReduction::None}).at(1) == 0);
    CHECK(at(none, {.smoothing = smoothing, .ignored = -1}).at(0) == 0);
    CHECK(at(labels, {.smoothing = smoothing, .ignored = {}, .reduction = LossReduction::Sum}).at(0) ==
          Approx(3 * mean).epsilon(1e-12));
    CHECK(at(asF64({3, 3}, {0, 0, 1, 1, 0, 0, 0, 1, 0}), {.smoothing = smoothing}).at(0) ==
          Approx(mean).epsilon(1e-12));
    CHECK(std::isnan(at(some, {.smoothing = smoothing}).at(0)));
    CHECK(std::isnan(
        at(labelsOf({2, 0, 3}), {.smoothing = smoothing, .ignored = -100}).at(0))); // no class, not ignored
  }
}

TEST_CASE("softmaxCrossEntropy: an ignored row has no gradient, and a class of -infinity no NaN") {
  const double infinity = std::numeric_limits<double>::infinity();
  const NamedLiterals at =
      valuesOf([](const auto& in) { return softmaxCrossEntropy(in[0], in[1], {.ignored = -100}); },
               {{"logits", asF64({2, 3}, {1, 2, -infinity, 4, 5, 6})}, {"targets", labelsOf({1, -100})}});
  CHECK(at.at("y").at(0) == Approx(std::log1p(std::exp(-1.0))));
  CHECK(at.at("d0").at(0) == Approx(1 / (1 + std::exp(1.0))));
  for (int64_t i = 2; i < 6; ++i) {
    CHECK(at.at("d0").at(i) == 0);
  }
}

TEST_CASE("losses: f16 and bf16 are computed in f32, and gradients come back in their type") {
  for (const ElementType element : {ElementType::F16, ElementType::BF16}) {
    Builder g;
    const Tensor x = g.input("x", {element, {2, 3}}), y = g.input("y", {element, {2, 3}}),
                 labels = g.input("labels", i32({2}));
    for (const Tensor& loss :
         {squaredError(x, y), absoluteError(x, 1), huberLoss(x, y), smoothL1Loss(x, y),
          sigmoidCrossEntropy(x, y), klDivergence(x, y), reduceMean(cosineSimilarity(x, y)),
          contrastiveLoss(x, y), softmaxCrossEntropy(x, labels, {.smoothing = 0.1}),
          softmaxCrossEntropy(x, y, {.smoothing = 0}), softmaxCrossEntropy(x, labels, {.ignored = 0})}) {
      CHECK(loss.type() == f32({}));
      CHECK(gradients(loss, {x})[0].type() == x.type());
    }
  }
}

TEST_CASE("losses: operands that do not fit are refused where they are given, with the way out") {
  const auto pair = [](Builder& g) { return std::pair{g.input("a", f32({8, 1})), g.input("b", f32({8}))}; };
  CHECK_THAT(lossMistake([&](Builder& g) {
               const auto [a, b] = pair(g);
               return squaredError(a, b);
             }),
             containing("the shapes differ"));
  CHECK_THAT(lossMistake([&](Builder& g) { return absoluteError(g.input("n", i32({2})), 1); }),
             containing("cast it to a float type"));
  CHECK_THAT(lossMistake([&](Builder& g) { return huberLoss(1, g.input("n", f32({2}))); }),
             containing("takes a tensor of floats first"));
  CHECK_THAT(lossMistake([&](Builder& g) { return huberLoss(pair(g).first, 0, -1); }),
             containing("a delta above 0"));
  CHECK_THAT(lossMistake([&](Builder& g) { return smoothL1Loss(pair(g).first, 0, -1); }), containing("beta"));
  CHECK_THAT(lossMistake([&](Builder& g) { return squaredError(pair(g).first, Tensor()); }),
             containing("empty Tensor"));
  CHECK_THAT(lossMistake([&](Builder& g) {
               const auto [a, b] = pair(g);
               return contrastiveLoss(b, b);
             }),
             containing("[n, width]"));
  CHECK_THAT(
      lossMistake([&](Builder& g) { return softmaxCrossEntropy(pair(g).first, 1, CrossEntropyOptions{}); }),
      containing("give a tensor of labels"));
  CHECK_THAT(lossMistake([&](Builder& g) {
               const auto [a, b] = pair(g);
               return softmaxCrossEntropy(a, b, {.smoothing = 0.1});
             }),
             containing("targets are labels"));
  CHECK_THAT(lossMistake([&](Builder& g) {
               return softmaxCrossEntropy(pair(g).first, g.input("n", i32({8})), {.smoothing = 2});
             }),
             containing("a smoothing of 2"));
}

TEST_CASE("losses: targets of bools and integers count as 0 and 1, and get no gradient") {
  Builder g;
  const Tensor x = g.input("x", f64({3})), real = g.input("real", {ElementType::Bool, {3}});
  g.fetch("y", sigmoidCrossEntropy(x, real));
  CHECK(std::move(g).finish().ok());
}

} // namespace
} // namespace dfc::test
