// Fusion beyond the golden files: its limits, and the scope, pin and location of a fused op.
#include "compiler/passes/passes.h"
#include "ir/author/dsl.h"
#include "ir/graph/graph.h"
#include "tests/support/catch.h"

namespace dfc {
namespace {

std::vector<const OpRow*> opsOf(const Graph& graph, OpKind kind) {
  std::vector<const OpRow*> rows;
  for (const OpId op : graph.ops()) {
    if (graph[op].kind() == kind) {
      rows.push_back(&graph[op]);
    }
  }
  return rows;
}

Graph fused(Builder&& g) {
  const Result<Graph> graph = std::move(g).finish();
  REQUIRE(graph.ok());
  return *fuseElementwise(*graph);
}

} // namespace

TEST_CASE("fuse_elementwise: a long chain splits into bodies of at most 64 instructions") {
  Builder g("long");
  Tensor x = g.input("x", f32({8}));
  for (int i = 0; i < 200; ++i) {
    x = tanh(x);
  }
  g.fetch("x", x);
  const Graph graph = fused(std::move(g));
  size_t instructions = 0;
  for (const OpRow* row : opsOf(graph, OpKind::Fused)) {
    CHECK(row->as<ops::Fused>().body.instructions.size() <= 64);
    instructions += row->as<ops::Fused>().body.instructions.size();
  }
  CHECK(instructions == 200);
  CHECK(opsOf(graph, OpKind::Fused).size() == 4); // 200 = 3 * 64 + 8
}

TEST_CASE("fuse_elementwise: a wide sum splits into bodies of at most 16 operands") {
  Builder g("wide");
  Tensor sum = g.input("x0", f32({8}));
  for (int i = 1; i < 40; ++i) {
    sum = sum + g.input("x" + std::to_string(i), f32({8}));
  }
  g.fetch("sum", sum);
  const Graph graph = fused(std::move(g));
  for (const OpRow* row : opsOf(graph, OpKind::Fused)) {
    CHECK(row->operands.size() <= 16);
  }
  // A body of n operands adds n - 1 of the 39 times: 15 + 15 + 9.
  CHECK(opsOf(graph, OpKind::Fused).size() == 3);
  CHECK(opsOf(graph, OpKind::Add).empty());
}

TEST_CASE("fuse_elementwise: operands read twice, also through broadcasts, are one operand") {
  Builder g("twice");
  const Tensor x = g.input("x", f32({2, 3})), row = g.input("row", f32({3}));
  const Tensor once = broadcast(row, {2, 3}), again = broadcast(row, {2, 3});
  g.fetch("y", -(x * exp(once) + again));
  const Graph graph = fused(std::move(g));
  const auto rows = opsOf(graph, OpKind::Fused);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0]->operands.size() == 2);
}

TEST_CASE("fuse_elementwise: the fused op has the name, scope, pin and place of the last op") {
  Builder g("place");
  const Tensor x = g.input("x", f32({2}));
  Tensor y;
  {
    const auto scope = g.scope("layer", "gpu0");
    y = relu(x * 2).named("activation");
  }
  g.fetch("y", y);
  const Graph graph = fused(std::move(g));
  const ValueId value = graph.findValue("activation");
  REQUIRE(value.valid());
  const OpId op = graph[value].producer;
  CHECK(graph[op].kind() == OpKind::Fused);
  CHECK(graph.scopeOf(op) == "layer");
  CHECK(graph.pinOf(op) == "gpu0");
  CHECK(graph.locationOf(op).file.ends_with("fuse_elementwise_test.cpp"));
  CHECK(graph.locationOf(op).line > 0);
}

TEST_CASE("fuse_elementwise: an op whose readers are in two groups is made once") {
  Builder g("shared");
  const Tensor x = g.input("x", f32({2, 3}));
  const Tensor shared = exp(x * 2);
  g.fetch("left", -tanh(shared));
  g.fetch("right", reduceSum(sqrt(shared), {0}));
  const Graph graph = fused(std::move(g));
  size_t exps = 0;
  for (const OpRow* row : opsOf(graph, OpKind::Fused)) {
    for (const ops::FusedInstruction& instruction : row->as<ops::Fused>().body.instructions) {
      exps += instruction.kind == OpKind::Exp ? 1 : 0;
    }
  }
  CHECK(exps == 1);
  CHECK(opsOf(graph, OpKind::Fused).size() == 3);
}

TEST_CASE("fuse_elementwise: what flows inside a group is neither written nor read") {
  Builder g("bytes");
  const Tensor x = g.input("x", f32({1000}));
  g.fetch("y", sqrt(exp(-x)));
  const Result<Graph> before = std::move(g).finish();
  const Graph after = *fuseElementwise(*before);
  const auto bytes = [](const Graph& graph) {
    double sum = 0;
    for (const OpId op : graph.ops()) {
      sum += costOf(graph[op].attributes, graph.operandTypesOf(op), graph.resultTypesOf(op)).bytes;
    }
    return sum;
  };
  // Three ops that read and write 4000 bytes each become one that does.
  CHECK(bytes(*before) - bytes(after) == 2 * 8000);
}

TEST_CASE("fuse_elementwise: a broadcast that is pinned elsewhere is read, not looked through") {
  for (const std::string pin : {"gpu0", "gpu1"}) {
    INFO(pin);
    Builder g("pinned");
    const Tensor x = g.input("x", f32({2, 3})), row = g.input("row", f32({3}));
    const Tensor stretched = broadcast(row, {2, 3}).on("gpu0");
    const Tensor product = (x * stretched).on(pin);
    g.fetch("y", (-product).on(pin));
    const Graph graph = fused(std::move(g));
    const auto rows = opsOf(graph, OpKind::Fused);
    REQUIRE(rows.size() == 1);
    REQUIRE(rows[0]->operands.size() == 2);
    const OpKind source = graph[graph[rows[0]->operands[1]].producer].kind();
    CHECK(source == (pin == "gpu0" ? OpKind::Input : OpKind::Broadcast));
  }
}

} // namespace dfc
