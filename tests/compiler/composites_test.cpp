// attention and embedding against formulas of their own, and their gradients against differences.
#include "compiler/interpreter/evaluate.h"
#include "ir/author/composites.h"
#include "ir/author/gradients.h"
#include "ir/graph/graph.h"
#include "tests/support/catch.h"
#include "tests/support/differences.h"

#include <cmath>
#include <limits>

using namespace dfc;
using test::checkDifferences;
using test::Dice;

namespace {

Literal drawn(const Shape& shape, uint64_t seed, double magnitude = 2) {
  Dice dice(seed);
  Literal literal(f64(shape));
  for (int64_t i = 0; i < shape.elements(); ++i) {
    literal.set(i, (dice.unit() * 2 - 1) * magnitude);
  }
  return literal;
}

Literal valueOf(Builder& g, Tensor y, const NamedLiterals& feeds) {
  g.fetch("y", y);
  const Result<Graph> graph = std::move(g).finish();
  INFO(render(graph.errors()));
  REQUIRE(graph.ok());
  const auto values = evaluate(*graph, feeds);
  INFO(render(values.errors()));
  REQUIRE(values.ok());
  return values->fetches.at("y");
}

struct Sizes {
  int64_t batch = 2, heads = 3, queries = 4, keys = 4, width = 5, out = 2;
};

// One weight after the other, by the definition: exp(score) over the sum of those of the keys that are seen.
double attended(const Literal& q, const Literal& k, const Literal& v, const Sizes& s, int64_t row,
                int64_t query, int64_t column, bool causal, double scale) {
  double total = 0, sum = 0;
  for (int64_t key = 0; key < (causal ? std::min(query + 1, s.keys) : s.keys); ++key) {
    double score = 0;
    for (int64_t i = 0; i < s.width; ++i) {
      score += q.at((row * s.queries + query) * s.width + i) * k.at((row * s.keys + key) * s.width + i);
    }
    const double weight = std::exp(score * scale);
    total += weight;
    sum += weight * v.at((row * s.keys + key) * s.out + column);
  }
  return sum / total;
}

void checkAttention(const Sizes& s, AttentionOptions options, double scale) {
  const Shape qs{s.batch, s.heads, s.queries, s.width}, ks{s.batch, s.heads, s.keys, s.width},
      vs{s.batch, s.heads, s.keys, s.out};
  const Literal q = drawn(qs, 1), k = drawn(ks, 2), v = drawn(vs, 3);
  Builder g;
  const Tensor y = attention(g.input("q", f64(qs)), g.input("k", f64(ks)), g.input("v", f64(vs)), options);
  const Literal got = valueOf(g, y, {{"q", q}, {"k", k}, {"v", v}});
  REQUIRE(got.type() == f64({s.batch, s.heads, s.queries, s.out}));
  for (int64_t i = 0; i < got.type().shape.elements(); ++i) {
    const int64_t row = i / s.out / s.queries, query = i / s.out % s.queries;
    CHECK(got.at(i) ==
          Approx(attended(q, k, v, s, row, query, i % s.out, options.causal, scale)).epsilon(1e-12));
  }
}

} // namespace

TEST_CASE("attention: weighs values by the softmax of scaled scores") {
  checkAttention({}, {}, 1 / std::sqrt(5.0));
  checkAttention({.queries = 3, .keys = 7}, {.causal = false, .scale = 0.7}, 0.7);
}

TEST_CASE("attention: a causal query sees no key after it") {
  checkAttention({}, {.causal = true, .scale = {}}, 1 / std::sqrt(5.0));
  checkAttention({.queries = 6, .keys = 3}, {.causal = true, .scale = 1}, 1);
  checkAttention({.queries = 2, .keys = 5}, {.causal = true, .scale = 1}, 1);
}

TEST_CASE("attention: neither large scores nor masks make NaN, in the value or in the gradient") {
  for (const ElementType type : {ElementType::F32, ElementType::F16, ElementType::BF16}) {
    Builder g;
    const TensorType shape{type, {1, 2, 5, 8}};
    const Tensor q = g.input("q", shape), k = g.input("k", shape), v = g.input("v", shape);
    const Tensor y = attention(q, k, v, {.causal = true, .scale = {}});
    NamedLiterals feeds;
    for (const std::string name : {"q", "k", "v"}) {
      Literal value(shape);
      for (int64_t i = 0; i < shape.shape.elements(); ++i) {
        value.set(i, (i * 37 % 11 - 5) * 12.0); // scores up to 8 * 60 * 60 / sqrt(8), far beyond exp's range
      }
      feeds.emplace(name, value);
    }
    const auto derivatives = gradients(reduceSum(y), {q, k, v});
    g.fetch("dq", derivatives[0]);
    g.fetch("dk", derivatives[1]);
    g.fetch("dv", derivatives[2]);
    g.fetch("y", y);
    const Result<Graph> graph = std::move(g).finish();
    REQUIRE(graph.ok());
    const auto values = evaluate(*graph, feeds);
    REQUIRE(values.ok());
    for (const auto& [name, value] : values->fetches) {
      for (int64_t i = 0; i < value.type().shape.elements(); ++i) {
        INFO(name << " in " << dfc::name(type));
        REQUIRE(std::isfinite(value.at(i)));
      }
    }
    CHECK(values->fetches.at("y").at(0) == feeds.at("v").at(0)); // query 0 sees key 0 alone
  }
}

TEST_CASE("attention: gradients agree with differences") {
  const std::vector<TensorType> types = {f64({1, 2, 3, 2}), f64({1, 2, 3, 2}), f64({1, 2, 3, 2})};
  for (const bool causal : {false, true}) {
    checkDifferences(
        [&](const auto& x) {
          AttentionOptions options;
          options.causal = causal;
          return attention(x[0], x[1], x[2], options);
        },
        types, causal ? 2 : 1);
  }
}

TEST_CASE("embedding: takes rows, and the gradient of a repeated id adds up") {
  Builder g;
  const Tensor table = g.input("table", f64({4, 3})), ids = g.input("ids", i32({2, 3}));
  const Tensor y = embedding(table, ids);
  CHECK(y.shape() == Shape{2, 3, 3});
  g.fetch("derivative", gradients(reduceSum(y), {table})[0]);
  Literal places(i32({2, 3}));
  for (const auto& [at, id] :
       std::vector<std::pair<int64_t, int64_t>>{{0, 2}, {1, 0}, {2, 2}, {3, 2}, {4, 3}, {5, -1}}) {
    places.set(at, static_cast<double>(id));
  }
  const Literal rows = drawn({4, 3}, 4);
  const NamedLiterals feeds{{"table", rows}, {"ids", places}};
  g.fetch("y", y);
  const Result<Graph> graph = std::move(g).finish();
  REQUIRE(graph.ok());
  const auto values = evaluate(*graph, feeds);
  REQUIRE(values.ok());
  for (int64_t column = 0; column < 3; ++column) {
    CHECK(values->fetches.at("y").at(column) == rows.at(2 * 3 + column));
    CHECK(values->fetches.at("y").at(15 + column) == rows.at(3 * 3 + column));
    const std::vector<double> uses = {1, 0, 3, 2}; // of the ids 0, 1, 2, 3
    for (int64_t id = 0; id < 4; ++id) {
      CHECK(values->fetches.at("derivative").at(id * 3 + column) == uses[static_cast<size_t>(id)]);
    }
  }
  checkDifferences([](const auto& x) { return exp(embedding(x[0], x[1])); }, {f64({3, 2}), i64({4})}, 2);
}

TEST_CASE("composites: mistakes are said where they are written") {
  Builder g;
  const Tensor x = g.input("x", f32({2, 3, 4})), flat = g.input("flat", f32({4}));
  const uint32_t line = __LINE__ + 1;
  const Tensor y = attention(x, flat, x);
  CHECK_FALSE(y.valid());
  CHECK_FALSE(attention(y, x, x).valid()); // said already
  CHECK_FALSE(attention(x, 2.0, x).valid());
  CHECK_FALSE(embedding(x, g.input("ids", i64({2}))).valid());
  CHECK_FALSE(attention(x, g.input("k", f32({2, 5, 3})), x).valid()); // widths 4 and 3: matmul says so
  const Diagnostics errors = std::move(g).finish().errors();
  INFO(render(errors));
  REQUIRE(errors.size() == 4);
  CHECK(errors[0].message == "attention of f32[4]: it has fewer than 2 axes");
  CHECK(errors[0].where.line == line);
  CHECK(errors[1].message == "attention of a number or an empty Tensor");
  CHECK(errors[2].message == "embedding: the table is f32[2, 3, 4]");
  CHECK(errors[3].where.line == line + 5);
}

TEST_CASE("attention: batch axes broadcast, masks are taken, mistakes are said") {
  const auto typeOf = [](const Shape& q, const Shape& k, const Shape& v) {
    Builder g;
    const Tensor y = attention(g.input("q", f32(q)), g.input("k", f32(k)), g.input("v", f32(v)));
    return y.valid() ? toString(y.type()) : std::move(g).finish().errors().at(0).message;
  };
  CHECK(typeOf({2, 3, 4, 8}, {3, 5, 8}, {1, 3, 5, 6}) == "f32[2, 3, 4, 6]");
  CHECK(typeOf({4, 8}, {3, 5, 8}, {5, 6}) == "f32[3, 4, 6]");
  CHECK(typeOf({2, 4, 4, 8}, {2, 2, 5, 8}, {2, 2, 5, 6}) ==
        "f32[2, 4, 4, 6]"); // neighbouring heads share keys
  CHECK(typeOf({8}, {5, 8}, {5, 6}).find("fewer than 2 axes") != std::string::npos);
  CHECK(typeOf({2, 1, 4, 8}, {3, 1, 5, 8}, {3, 1, 5, 6}).find("batch axes differ") != std::string::npos);
  Builder g;
  const Tensor q = g.input("q", f32({4, 8})), mask = g.input("mask", {ElementType::Bool, {4, 1}});
  CHECK(attention(q, q, q, {.mask = mask}).valid());
  CHECK_FALSE(attention(q, q, q, {.scale = 0.0}).valid());
  CHECK_FALSE(attention(q, q, q, {.mask = q}).valid());
  const Diagnostics errors = std::move(g).finish().errors();
  REQUIRE(errors.size() == 2);
  CHECK(errors[0].message == "attention with a scale of 0");
  CHECK(errors[1].message.find("the mask is f32[4, 8]") != std::string::npos);
}

TEST_CASE("einsum: scores of attention are a matmul, with the values of the definition") {
  const Literal q = drawn({2, 3, 4}, 5), k = drawn({2, 5, 4}, 6);
  Builder g;
  const Tensor a = g.input("q", f64({2, 3, 4})), b = g.input("k", f64({2, 5, 4}));
  const Tensor scores = einsum("bqd,bkd->bkq", {a, b});
  CHECK(g.graph().soFar().opsOf(OpKind::Matmul).size() == 1);
  const Literal found = valueOf(g, scores, {{"q", q}, {"k", k}});
  REQUIRE(found.type() == f64({2, 5, 3}));
  for (int64_t i = 0; i < found.type().shape.elements(); ++i) {
    const int64_t batch = i / 15, key = i / 3 % 5, query = i % 3;
    double sum = 0;
    for (int64_t d = 0; d < 4; ++d) {
      sum += q.at((batch * 3 + query) * 4 + d) * k.at((batch * 5 + key) * 4 + d);
    }
    CHECK(found.at(i) == Approx(sum));
  }
}

TEST_CASE("einsum: a mistake in the equation is said where the call is") {
  Builder g;
  const Tensor a = g.input("a", f64({2, 3}));
  CHECK(!einsum("ij,jk->ik", {a, a}).valid()); // three columns and two rows
  CHECK(!einsum("ijk->i", {a}).valid());
  const auto graph = std::move(g).finish();
  REQUIRE(graph.errors().size() == 2);
  CHECK(graph.errors()[0].message == "einsum \"ij,jk->ik\": axes of 3 and 2 for the letter 'j'");
  CHECK(graph.errors()[1].message == "einsum \"ijk->i\": the term 'ijk' for 2 axes");
}

TEST_CASE("log1p and expm1: all digits near 0, and the edges") {
  Literal x(f64({6}));
  const std::vector<double> at = {1e-18, -1e-10, 0.3, -1, 700, std::numeric_limits<double>::infinity()};
  for (size_t i = 0; i < at.size(); ++i) {
    x.set(static_cast<int64_t>(i), at[i]);
  }
  Builder logs, exponentials;
  const Literal ones = valueOf(logs, log1p(logs.input("x", f64({6}))), {{"x", x}});
  const Literal less = valueOf(exponentials, expm1(exponentials.input("x", f64({6}))), {{"x", x}});
  for (size_t i = 0; i < at.size(); ++i) {
    CHECK(ones.at(static_cast<int64_t>(i)) == Approx(std::log1p(at[i])).epsilon(1e-15));
    CHECK(less.at(static_cast<int64_t>(i)) == Approx(std::expm1(at[i])).epsilon(1e-15));
  }
}

TEST_CASE(
    "a loss of several axes of rows is that of the rows in one axis, and a vector is a row or a column") {
  Literal labels(i64({2, 3}));
  for (int64_t i = 0; i < 6; ++i) {
    labels.set(i, static_cast<double>(i % 4));
  }
  const NamedLiterals feeds = {{"a", drawn({2, 3, 4}, 7)}, {"labels", labels}, {"v", drawn({4}, 8)}};
  const auto inputs = [](Builder& g) {
    return std::pair(g.input("a", f64({2, 3, 4})), g.input("labels", i64({2, 3})));
  };
  Builder joined, apart;
  const auto [a, all] = inputs(joined);
  const auto [b, each] = inputs(apart);
  const NamedLiterals losses = {{"a", feeds.at("a")}, {"labels", labels}};
  CHECK(valueOf(joined, softmaxCrossEntropy(a, all), losses) ==
        valueOf(apart, softmaxCrossEntropy(reshape(b, {6, 4}), reshape(each, {6})), losses));
  Builder g;
  const Tensor v = g.input("v", f64({4})), c = g.input("a", f64({2, 3, 4}));
  CHECK(matmul(c, v).shape() == Shape{2, 3});
  CHECK(matmul(v, c, {.b = true}).shape() == Shape{2, 3});
  CHECK(matmul(v, v).shape() == Shape{});
}
