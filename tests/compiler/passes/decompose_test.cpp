// decompose: which composite ops are replaced, by what, and that their values stay.
#include "compiler/interpreter/evaluate.h"
#include "compiler/passes/passes.h"
#include "ir/author/composites.h"
#include "ir/author/decompositions.h"
#include "ir/author/gradients.h"
#include "ir/graph/graph.h"
#include "ir/machine/kernel_claims.h"
#include "tests/support/catch.h"
#include "tests/support/random_graph.h"

#include <cmath>

using namespace dfc;

namespace {

size_t composites(const Graph& graph) {
  size_t count = 0;
  for (const OpId op : graph.ops()) {
    count += isComposite(graph[op].kind()) ? 1 : 0;
  }
  return count;
}

Graph training(ElementType element) {
  Builder g;
  const Tensor x = g.input("x", {element, {2, 4, 6, 8}}), w = g.parameter("w", {element, {8, 8}}, glorot(1));
  const Builder::Guard block = g.scope("block", "cpu0");
  const Tensor q = matmul(x, w), y = attention(q, x, x, {.causal = true, .scale = {}}).named("y");
  const Tensor loss = reduceMean(y * y);
  g.fetch("y", y);
  g.fetch("slope", gradients(loss, {w})[0]);
  return *std::move(g).finish();
}

} // namespace

TEST_CASE("decompose: an op stays where every kind of device has a kernel for it") {
  for (const ElementType element :
       {ElementType::F32, ElementType::F64, ElementType::F16, ElementType::BF16}) {
    const Graph graph = training(element);
    REQUIRE(composites(graph) == 2);
    size_t claimed = 0;
    for (const OpId op : graph.ops()) {
      claimed +=
          isComposite(graph[op].kind()) && everyKindClaims(graph[op].attributes, graph.operandTypesOf(op))
              ? 1
              : 0;
    }
    INFO(name(element));
    CHECK(composites(*decompose(graph)) == claimed);
  }
}

TEST_CASE("decompose: names, scopes, pins and places are those of the op") {
  const Graph graph = training(ElementType::F64); // for which no GPU has a kernel
  const Graph plain = *decompose(graph);
  CHECK(composites(plain) == 0);
  const OpId before = graph[graph.findValue("y")].producer, after = plain[plain.findValue("y")].producer;
  CHECK(plain.scopeOf(after) == graph.scopeOf(before));
  CHECK(plain.pinOf(after) == "cpu0");
  CHECK(plain.locationOf(after).line == graph.locationOf(before).line);
}

TEST_CASE("decompose: every composite op agrees with its formula, in f64 to the last digits") {
  size_t compared = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    test::RandomGraphOptions options;
    options.elements = {ElementType::F64};
    options.ops = 4;
    options.kinds = {OpKind::Attention, OpKind::AttentionGradient};
    const Graph graph = test::randomGraph(seed, options);
    const NamedLiterals feeds = test::randomFeeds(graph, seed),
                        parameters = test::randomParameters(graph, seed);
    const Graph plain = *decompose(graph);
    const auto expected = evaluate(graph, feeds, parameters), actual = evaluate(plain, feeds, parameters);
    REQUIRE(expected.ok());
    REQUIRE(actual.ok());
    for (const auto& [name, value] : expected->fetches) {
      const Literal& other = actual->fetches.at(name);
      REQUIRE(other.type() == value.type());
      for (int64_t i = 0; i < value.type().shape.elements(); ++i) {
        INFO("seed " << seed << ", " << name << "[" << i << "]");
        const bool close = value.at(i) == other.at(i) ||
                           (std::isnan(value.at(i)) && std::isnan(other.at(i))) ||
                           std::fabs(value.at(i) - other.at(i)) < 1e-12 * (1 + std::fabs(value.at(i)));
        REQUIRE(close);
        ++compared;
      }
    }
  }
  CHECK(compared > 1000);
}
