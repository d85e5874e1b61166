// Which precision a matmul has in the end: its own, the plan's, or the only one of its type.
#include "compiler/compile.h"
#include "compiler/passes/passes.h"
#include "ir/author/dsl.h"
#include "ir/author/gradients.h"
#include "ir/author/text/parse.h"
#include "ir/author/text/print.h"
#include "ir/graph/graph.h"
#include "tests/support/catch.h"
#include "tests/support/tiny_plan.h"

namespace dfc {
namespace {

using ops::Precision;

Graph parsed(const std::string& text) {
  Result<Graph> graph = parseGraph(text, "test.dfg");
  INFO((graph ? "" : render(graph.errors())));
  REQUIRE(graph.ok());
  return *std::move(graph);
}

Precision precisionOf(const Graph& graph, std::string_view name) {
  return graph[graph[graph.findValue(name)].producer].as<ops::Matmul>().precision;
}

constexpr const char* products = R"(graph products {
  input x : f32[4, 4]
  input n : i32[4, 4]
  input d : f64[4, 4]
  open = matmul(x, x)
  exact = matmul(x, x, precision=ieee)
  rounded = matmul(x, x, transposeA=true, precision=tf32)
  whole = matmul(n, n)
  wholeRounded = matmul(n, n, transposeB=true, precision=tf32)
  wide = matmul(d, d, precision=tf32)
  fetch open
  fetch exact
  fetch rounded
  fetch whole
  fetch wholeRounded
  fetch wide
}
)";

} // namespace

TEST_CASE("set_precision: a stated precision holds, the plan's fills in, and only f32 has a choice") {
  const Graph graph = parsed(products);
  for (const Precision byDefault : {Precision::Ieee, Precision::Tf32}) {
    const Graph settled = *setPrecision(graph, {byDefault});
    CHECK(precisionOf(settled, "open") ==
          (byDefault == Precision::Tf32 ? Precision::Tf32 : Precision::Unstated));
    CHECK(precisionOf(settled, "exact") == Precision::Unstated);
    CHECK(precisionOf(settled, "rounded") == Precision::Tf32);
    CHECK(precisionOf(settled, "whole") == Precision::Unstated);
    CHECK(precisionOf(settled, "wholeRounded") == Precision::Unstated);
    CHECK(precisionOf(settled, "wide") == Precision::Unstated);
    CHECK(settled[settled[settled.findValue("rounded")].producer].as<ops::Matmul>().transposeA);
  }
  CHECK(printGraph(graph).find("precision=unstated") == std::string::npos);
  CHECK(printGraph(parsed(printGraph(graph))) == printGraph(graph));
}

TEST_CASE("set_precision: a fused matmul that a file holds is settled as a plain one") {
  const Graph graph = *setPrecision(parsed(R"(graph fused {
  input x : f32[4, 4]
  fetch open = fusedMatmul(x, x, body="relu:f32 %0")
  fetch exact = fusedMatmul(x, x, precision=ieee, body="tanh:f32 %0")
})"),
                                    {Precision::Tf32});
  const auto precisionOfFetch = [&](size_t index) {
    return graph[graph[graph.fetches()[index].value].producer].as<ops::FusedMatmul>().precision;
  };
  CHECK(precisionOfFetch(0) == Precision::Tf32);
  CHECK(precisionOfFetch(1) == Precision::Unstated);
}

TEST_CASE("set_precision: products that differ in precision are not shared, others are") {
  const Graph ieee = *dropDeadOps(*shareCommonOps(*setPrecision(parsed(products), {Precision::Ieee})));
  CHECK(ieee.findValue("open").valid());
  CHECK_FALSE(ieee.findValue("exact").valid()); // the same as `open` now
  const Graph tf32 = *dropDeadOps(*shareCommonOps(*setPrecision(parsed(products), {Precision::Tf32})));
  CHECK(tf32.findValue("exact").valid());
}

TEST_CASE("set_precision: the gradients of a product have its precision") {
  Builder g("derivatives");
  const Tensor x = g.input("x", f32({2, 3})), w = g.parameter("w", f32({3, 4}));
  const Tensor rounded = reduceSum(matmul(x, w, {}, Precision::Tf32));
  const std::vector<Tensor> derivatives = gradients(rounded, {x, w});
  g.fetch("dx", derivatives[0]);
  g.fetch("dw", derivatives[1]);
  const Graph graph = *std::move(g).finish();
  size_t products = 0;
  for (const OpId op : graph.ops()) {
    if (const auto* matmul = graph[op].getIf<ops::Matmul>()) {
      CHECK(matmul->precision == Precision::Tf32);
      ++products;
    }
  }
  CHECK(products == 3);
}

TEST_CASE("compile: the option's precision is in the sealed plan") {
  const Graph graph = parsed(products);
  CompileOptions options;
  options.precision = Precision::Tf32;
  const auto plan = compile(graph, test::smallMachine(0), RooflineCostModel(), options);
  REQUIRE(plan.ok());
  CHECK(precisionOf(plan->graph(), "open") == Precision::Tf32);
  CHECK(precisionOf(plan->graph(), "exact") == Precision::Unstated);
  const auto plain = compile(graph, test::smallMachine(0), RooflineCostModel());
  REQUIRE(plain.ok());
  CHECK(precisionOf(plain->graph(), "open") == Precision::Unstated);
}

} // namespace dfc
