// categorical, keepTopK and keepTopP: frequencies against probabilities, and the sets that are kept.
#include "compiler/interpreter/evaluate.h"
#include "ir/author/composites.h"
#include "tests/support/catch.h"

#include <cmath>
#include <limits>

using namespace dfc;

namespace {

using Wanted = std::vector<bool>;

Literal valueOf(Builder& g, Tensor y) {
  g.fetch("y", y);
  const Result<Graph> graph = std::move(g).finish();
  INFO(render(graph.errors()));
  REQUIRE(graph.ok());
  const auto values = evaluate(*graph, {});
  INFO(render(values.errors()));
  REQUIRE(values.ok());
  return values->fetches.at("y");
}

Wanted keptOf(const std::function<Tensor(Tensor)>& filter, const std::vector<double>& row) {
  Builder g;
  const Tensor logits = g.constant(Literal(Shape{static_cast<int64_t>(row.size())}, std::span(row)));
  const Literal kept = valueOf(g, filter(logits));
  Wanted wanted;
  for (size_t i = 0; i < row.size(); ++i) {
    const double value = kept.at(static_cast<int64_t>(i));
    CHECK((value == row[i] || value == -std::numeric_limits<double>::infinity()));
    wanted.push_back(value == row[i]);
  }
  return wanted;
}

std::string firstError(const std::function<Tensor(Builder&)>& write) {
  Builder g;
  g.fetch("y", write(g));
  const auto graph = std::move(g).finish();
  REQUIRE(!graph.ok());
  return graph.errors()[0].message;
}

} // namespace

TEST_CASE("sampling: categorical draws by the probabilities, and anew in each step") {
  const std::vector<double> probabilities = {0.1, 0.6, 0, 0.3};
  constexpr int64_t rows = 6000;
  Literal logits(f64({rows, 4}));
  for (int64_t i = 0; i < rows * 4; ++i) {
    logits.set(i, std::log(probabilities[static_cast<size_t>(i % 4)]));
  }
  const auto drawn = [&](int64_t step) {
    Builder g;
    return valueOf(g,
                   categorical(g.constant(logits), g.scalar(ElementType::I64, static_cast<double>(step)), 3));
  };
  const Literal first = drawn(0);
  std::vector<double> counts(4);
  for (int64_t i = 0; i < rows; ++i) {
    counts[static_cast<size_t>(first.at(i))] += 1;
  }
  for (size_t i = 0; i < 4; ++i) { // four standard deviations
    const double p = probabilities[i];
    CHECK(std::abs(counts[i] / rows - p) <= 4 * std::sqrt(p * (1 - p) / rows));
  }
  CHECK(drawn(0) == first);
  CHECK_FALSE(drawn(1) == first);
}

TEST_CASE("sampling: keepTopK keeps the largest, and all that equal the last of them") {
  const auto top2 = [](Tensor logits) { return keepTopK(logits, 2); };
  CHECK(keptOf(top2, {1, 4, 2, 3}) == Wanted{false, true, false, true});
  CHECK(keptOf(top2, {1, 4, 3, 3}) == Wanted{false, true, true, true});
}

TEST_CASE("sampling: keepTopP keeps the smallest set that reaches p") {
  const std::vector<double> row = {std::log(0.2), std::log(0.5), std::log(0.05), std::log(0.25)};
  const auto within = [](double p, int64_t among) {
    return [=](Tensor logits) { return keepTopP(logits, p, among); };
  };
  CHECK(keptOf(within(0.4, 0), row) == Wanted{false, true, false, false});
  CHECK(keptOf(within(0.6, 0), row) == Wanted{false, true, false, true});
  CHECK(keptOf(within(0.9, 0), row) == Wanted{true, true, false, true});
  CHECK(keptOf(within(1, 0), row) == Wanted{true, true, true, true});
  CHECK(keptOf(within(0.9, 2), row) == Wanted{false, true, false, true});
}

TEST_CASE("sampling: what cannot be sampled is refused where it is written") {
  CHECK(firstError([](Builder& g) { return keepTopK(g.input("x", f32({3})), 4); }) ==
        "keepTopK of f32[3]: k is 4");
  CHECK(firstError([](Builder& g) { return keepTopP(g.input("x", f32({3})), 0); }) ==
        "keepTopP of f32[3]: p is 0, among 0");
  CHECK(firstError([](Builder& g) { return categorical(g.input("x", i64({3})), g.input("s", i64({}))); }) ==
        "categorical of i64[3]");
}
