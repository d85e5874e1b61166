// Passes keep ops with several results whole: each result goes where it went, and dies by itself.
#include "compiler/interpreter/evaluate.h"
#include "compiler/passes/passes.h"
#include "ir/author/dsl.h"
#include "ir/author/text/parse.h"
#include "ir/author/text/print.h"
#include "ir/graph/graph.h"
#include "tests/support/catch.h"

using namespace dfc;

namespace {

Graph parsed(const std::string& text) {
  Result<Graph> graph = parseGraph("graph g {\n" + text + "}\n", "g.dfg");
  INFO(render(graph.errors()));
  REQUIRE(graph.ok());
  return *std::move(graph);
}

size_t countOf(const Graph& graph, OpKind kind) {
  size_t count = 0;
  for (const OpId op : graph.ops()) {
    count += graph[op].kind() == kind ? 1 : 0;
  }
  return count;
}

Graph passed(Result<Graph> (*pass)(const Graph&, const PassOptions&), const Graph& graph) {
  Result<Graph> result = pass(graph, {});
  INFO(render(result.errors()));
  REQUIRE(result.ok());
  return *std::move(result);
}

} // namespace

TEST_CASE("several results: constants are folded, each to its own") {
  const Graph folded = passed(foldConstants, parsed("  constant c : i64[4] = [3, 9, 1, 7]\n"
                                                    "  v, p = topK(c, k=2)\n"
                                                    "  a, b = split(c, sizes=[3, 1])\n"
                                                    "  fetch v\n  fetch p\n  fetch a\n  fetch b\n"));
  CHECK(countOf(folded, OpKind::TopK) + countOf(folded, OpKind::Split) == 0);
  const auto values = evaluate(folded, {});
  REQUIRE(values.ok());
  const auto holds = [&](const std::string& name, const std::vector<double>& wanted) {
    const Literal& value = values->fetches.at(name);
    for (size_t i = 0; i < wanted.size(); ++i) {
      CHECK(value.at(static_cast<int64_t>(i)) == wanted[i]);
    }
  };
  holds("v", {9, 7});
  holds("p", {1, 3});
  holds("a", {3, 9, 1});
  holds("b", {7});
  CHECK(folded.findValue("p").valid()); // under their own names
}

TEST_CASE("several results: equal ops are shared, result by result") {
  const Graph shared = passed(shareCommonOps, parsed("  input x : f32[4]\n"
                                                     "  v, p = topK(x, k=2)\n"
                                                     "  w, q = topK(x, k=2)\n"
                                                     "  fetch w\n  fetch q\n"));
  CHECK(countOf(shared, OpKind::TopK) == 1);
  CHECK(shared.nameOf(shared.fetches()[0].value) == "v");
  CHECK(shared.nameOf(shared.fetches()[1].value) == "p");
}

TEST_CASE("several results: the op stays while one result is read") {
  const Graph swept = passed(dropDeadOps, parsed("  input x : f32[4]\n"
                                                 "  v, p = topK(x, k=2)\n"
                                                 "  a, b = split(x, sizes=[2, 2])\n"
                                                 "  fetch p\n"));
  CHECK(countOf(swept, OpKind::TopK) == 1);
  CHECK(countOf(swept, OpKind::Split) == 0);
}

TEST_CASE("several results: simplify and fusion pass them by, and see what stands around them") {
  const Graph graph = parsed("  input x : f32[4, 4]\n"
                             "  a, b = split(transpose(transpose(x)), sizes=[2, 2])\n"
                             "  y = relu(a + b) * 2\n"
                             "  fetch y\n");
  const Graph simple = passed(simplify, graph);
  for (const OpId op : simple.ops()) {
    if (simple[op].kind() == OpKind::Split) {
      CHECK(simple.nameOf(simple[op].operands[0]) == "x");
      CHECK(simple[op].resultCount == 2);
    }
  }
  const Graph fused = passed(fuseElementwise, simple);
  CHECK(countOf(fused, OpKind::Split) == 1);
  CHECK(countOf(fused, OpKind::Fused) == 1);
}

TEST_CASE("reductions that no fused op can end in stay as they are") {
  for (const std::string reduction : {"reduceMin", "reduceProduct"}) {
    const Graph fused = passed(fuseElementwise, parsed("  input x : f32[4, 4]\n"
                                                       "  y = " +
                                                       reduction +
                                                       "(relu(x * 2), axes=[1])\n"
                                                       "  z = relu(y) + 1\n"
                                                       "  fetch z\n"));
    CHECK(countOf(fused, *opKindNamed(reduction)) == 1);
    CHECK(countOf(fused, OpKind::Fused) == 2);
  }
}
