// stopGradient: its operand to every reader, a constant to gradients, whether they are taken while a graph is
// written or by the compiler, once or twice; and gone behind `decompose`.
#include "compiler/compile.h"
#include "compiler/cost/cost_model.h"
#include "compiler/interpreter/evaluate.h"
#include "compiler/passes/passes.h"
#include "ir/author/custom.h"
#include "ir/author/dsl.h"
#include "ir/author/gradients.h"
#include "ir/graph/graph.h"
#include "tests/support/catch.h"
#include "tests/support/matchers.h"
#include "tests/support/parsed.h"
#include "tests/support/tiny_plan.h"

namespace dfc::test {
namespace {

NamedLiterals fetchesAt(const Graph& graph, double x) {
  const auto values = evaluate(graph, {{"x", Literal::of<double>({}, {x})}});
  INFO(render(values.errors()));
  REQUIRE(values.ok());
  return values->fetches;
}

} // namespace

TEST_CASE("stopGradient: the value stays, and a factor behind it counts as a constant, twice as well") {
  Builder g;
  const Tensor x = g.input("x", f64({}));
  const Tensor y = x * x * stopGradient(x * x); // x^2 c, c = x^2
  const Tensor slope = gradients(y, {x})[0];    // 2 x c
  g.fetch("y", y);
  g.fetch("slope", slope);
  g.fetch("curvature", gradients(slope, {x})[0]); // 2 c
  const NamedLiterals at = fetchesAt(*std::move(g).finish(), 3);
  CHECK(at.at("y").at(0) == 81);
  CHECK(at.at("slope").at(0) == 54);
  CHECK(at.at("curvature").at(0) == 18);
}

TEST_CASE("stopGradient: a straight-through estimator rounds, and has the derivative of what it rounds") {
  Builder g;
  const Tensor x = g.input("x", f64({}));
  const Tensor rounded = x + stopGradient(round(x) - x);
  g.fetch("y", rounded);
  g.fetch("slope", gradients(rounded * rounded, {x})[0]);
  const NamedLiterals at = fetchesAt(*std::move(g).finish(), 2.75);
  CHECK(at.at("y").at(0) == 3);
  CHECK(at.at("slope").at(0) == 6);
}

TEST_CASE("stopGradient: an op without a gradient may stand before it") {
  const auto build = [](bool stopped) {
    Builder g;
    const Tensor w = g.parameter("w", f32({2}));
    const Tensor made = custom({w}, {.function = "f", .results = {f32({2})}, .cpuSeconds = 1e-6})[0];
    g.fetch("slope", gradients(reduceSum(w * (stopped ? stopGradient(made) : made)), {w})[0]);
    return std::move(g).finish();
  };
  CHECK(build(true).ok());
  const Result<Graph> refused = build(false);
  REQUIRE_FALSE(refused.ok());
  CHECK_THAT(render(refused.errors()), containing("stopGradient"));
}

TEST_CASE("stopGradient: of integers and bools it is the identity, too") {
  Builder g;
  const Tensor labels = g.input("labels", i64({3}));
  CHECK(stopGradient(labels).type() == i64({3}));
  CHECK(stopGradient(compare(labels, 1, Direction::Eq)).type().element == ElementType::Bool);
}

TEST_CASE("stopGradient: an update trains nothing that the loss depends on through it alone") {
  const Graph graph = parsed(R"(graph student {
    input x : f32[4, 3]
    parameter teacher : f32[3, 2] = glorot(seed=1)
    parameter w : f32[3, 2] = glorot(seed=2)
    d = matmul(x, w) - stopGradient(matmul(x, teacher))
    loss = reduceMean(d * d)
    adam(loss, weightDecay=0.1)
    fetch loss
  })");
  for (const OpId assign : graph.opsOf(OpKind::Assign)) {
    CHECK(graph.nameOf(graph[assign].operands[0]).find("teacher") == std::string::npos);
  }
}

TEST_CASE("stopGradient: no plan has it, and what asks for it by its name is understood") {
  const Graph graph = parsed(R"(graph net {
    input x : f32[64, 32]
    parameter w : f32[32, 16] = glorot(seed=1)
    h = matmul(x, w)
    frozen = stopGradient(h)
    d = h - 0.5 * frozen
    loss = reduceMean(d * d)
    dw = gradients(loss, w)
    assign(w, w - 0.1 * dw)
    fetch loss
    fetch frozen
  })");
  CHECK(decompose(graph)->opsOf(OpKind::StopGradient).empty());
  for (const bool pinned : {false, true}) {
    CompileOptions options;
    options.pins = pinned ? std::vector<PinRule>{{"frozen", "gpu1"}} : std::vector<PinRule>{};
    const Machine machine = smallMachine(2);
    const auto plan = compile(graph, machine, RooflineCostModel(), options);
    INFO(render(plan.errors()));
    REQUIRE(plan.ok());
    CHECK(plan->graph().opsOf(OpKind::StopGradient).empty());
  }
  CompileOptions whole; // without the pass it is a view
  whole.skipPasses = {"decompose"};
  CHECK(compile(graph, smallMachine(2), RooflineCostModel(), whole).ok());
}

} // namespace dfc::test
