// What golden files cannot show of the passes: errors, numbers worked out by hand, limits, sizes.
#include "compiler/interpreter/evaluate.h"
#include "compiler/passes/passes.h"
#include "ir/author/dsl.h"
#include "ir/author/text/parse.h"
#include "ir/graph/graph.h"
#include "tests/support/catch.h"
#include "tests/support/parsed.h"

#include <set>

namespace dfc {
namespace {

using test::parsed;

size_t countOf(const Graph& graph, OpKind kind) {
  size_t count = 0;
  for (const OpId op : graph.ops()) {
    count += graph[op].kind() == kind ? 1 : 0;
  }
  return count;
}

Literal scalar(float value) { return Literal::scalar<float>(value); }

} // namespace

TEST_CASE("passes: the list has every row once, with its reason") {
  std::set<std::string_view> names;
  for (const PassRow& pass : allPasses()) {
    CHECK(pass.run != nullptr);
    CHECK_FALSE(pass.why.empty());
    CHECK(names.insert(pass.name).second);
  }
  CHECK(names.size() == allPasses().size());
}

TEST_CASE("share_common_ops: equal ops are found among few readers of a value, and among many") {
  const auto shareCommonOps = [](const Graph& graph) {
    for (const PassRow& pass : allPasses()) {
      if (pass.name == "share_common_ops") {
        return *pass.run(graph, {});
      }
    }
    DFC_UNREACHABLE("a pass of that name");
  };
  for (const int readers : {3, 16, 17, 40}) {
    INFO(readers << " readers");
    Builder g;
    const Tensor x = g.input("x", f32({64}));
    for (const int round : {0, 1}) { // each slice twice, the second far behind the first
      for (int i = 0; i < readers; ++i) {
        g.fetch("y" + std::to_string(round) + "_" + std::to_string(i), slice(x, {i}, {i + 1}));
      }
    }
    const Graph shared = shareCommonOps(*std::move(g).finish());
    CHECK(countOf(shared, OpKind::Slice) == static_cast<size_t>(readers));
    for (int i = 0; i < readers; ++i) {
      CHECK(shared.fetches()[static_cast<size_t>(i)].value ==
            shared.fetches()[static_cast<size_t>(readers + i)].value);
    }
  }
}

TEST_CASE("gradients: first and second derivative of a cube") {
  const Graph graph = parsed(R"(graph cube {
  input x : f32[]
  y = x * x * x
  derivative = gradients(y, x)
  fetch derivative
  fetch curvature = gradients(derivative, x)
})");
  const Result<Graph> expanded = expandGradients(graph);
  REQUIRE(expanded.ok());
  const Result<Evaluation> step = evaluate(*expanded, {{"x", scalar(2)}});
  REQUIRE(step.ok());
  CHECK(step->fetches.at("derivative") == scalar(12)); // 3 x^2
  CHECK(step->fetches.at("curvature") == scalar(12));  // 6 x
  CHECK(expanded->findValue("derivative").valid());
}

TEST_CASE("gradients: every request that fails is reported where it was written") {
  // argMax gives no gradient but ends the path (its result is i64); reduceMax of an integer as well. What has
  // no rule on a float path is the gradient of cross entropy's gradient.
  const Graph graph = parsed(R"(graph wrong {
  input logits : f32[2, 3]
  input labels : i32[2]
  loss = softmaxCrossEntropy(logits, labels)
  derivative = gradients(loss, logits)
  steep = reduceSum(derivative * derivative)
  first = gradients(steep, logits)
  other = reduceSum(derivative * 2)
  second = gradients(other, logits)
  behind = reduceSum(first + second)
  fetch behind
})");
  const Result<Graph> expanded = expandGradients(graph);
  REQUIRE_FALSE(expanded.ok());
  REQUIRE(expanded.errors().size() == 2);
  CHECK(expanded.errors()[0].where.line == 7);
  CHECK(expanded.errors()[1].where.line == 9);
  for (const Diagnostic& error : expanded.errors()) {
    CHECK(error.where.file == "test.dfg");
    CHECK_FALSE(error.hint.empty());
  }
}

TEST_CASE("gradients: two requests for one derivative name it once") {
  const Graph graph = parsed(R"(graph two {
  input x : f32[]
  y = x * x
  a = gradients(y, x)
  b, c = gradients(y, x, x)
  fetch a
  fetch b
  fetch c
})");
  const Result<Graph> expanded = expandGradients(graph);
  REQUIRE(expanded.ok());
  const Result<Evaluation> step = evaluate(*expanded, {{"x", scalar(3)}});
  REQUIRE(step.ok());
  for (const char* name : {"a", "b", "c"}) {
    CHECK(step->fetches.at(name) == scalar(6));
  }
}

TEST_CASE("fold_constants: large constants stay as they are") {
  // 2 * 64 KiB of operands and 64 KiB of result are the most; one element more is too much.
  for (const int64_t elements : {16384, 16385}) {
    Builder g("large");
    const Tensor a = g.constant(filledLiteral(f32({elements}), 2)),
                 b = g.constant(filledLiteral(f32({elements}), 3));
    g.fetch("sum", a + b);
    const Graph folded = *foldConstants(*std::move(g).finish());
    CHECK(countOf(folded, OpKind::Add) == (elements == 16384 ? 0 : 1));
  }
}

TEST_CASE("passes: a graph of many ops goes through, in every shape that could be slow", "[heavy]") {
  constexpr int many = 200000;
  Builder g("many");
  const Tensor x = g.input("x", f32({4}));
  Tensor chain = x, shared = x, reshaped = x;
  for (int i = 0; i < many / 4; ++i) {
    chain = tanh(chain);      // one long chain: fusion must split it
    shared = shared + exp(x); // always the same op: sharing
    reshaped = reshape(-(-reshaped), i % 2 == 0 ? Dims{2, 2} : Dims{4}); // identities: algebra
  }
  g.fetch("chain", chain);
  g.fetch("shared", shared);
  g.fetch("reshaped", reshaped);
  Graph graph = *std::move(g).finish();
  const size_t before = graph.opCount();
  for (const PassRow& pass : allPasses()) {
    graph = *pass.run(graph, {});
  }
  CHECK(before > many);
  CHECK(countOf(graph, OpKind::Exp) <= 1);
  CHECK(countOf(graph, OpKind::Neg) == 0);
  CHECK(countOf(graph, OpKind::Reshape) <= 1);
  // Bodies of at most 64 instructions, full but for the last of each of the two chains.
  CHECK(countOf(graph, OpKind::Fused) <= 2 * (many / 4 / 64 + 1));
}

} // namespace dfc
