// Which precision a matmul has in the end: its own, the plan's, or the only one of its type.
#include "compiler/compile.h"
#include "compiler/interpreter/evaluate.h"
#include "compiler/passes/passes.h"
#include "ir/author/composites.h"
#include "ir/author/dsl.h"
#include "ir/author/gradients.h"
#include "ir/author/text/parse.h"
#include "ir/author/text/print.h"
#include "ir/graph/graph.h"
#include "tests/support/catch.h"
#include "tests/support/parsed.h"
#include "tests/support/random_values.h"
#include "tests/support/tiny_plan.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace dfc {
namespace {

using test::parsed;

using ops::Precision;

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

namespace {

// A convolution, attention, a hidden layer and their gradients, all of f32.
Graph network() {
  Builder g;
  const Tensor image = g.input("image", f32({2, 3, 6, 6})),
               filter = g.parameter("filter", f32({4, 3, 3, 3}), heNormal(1)),
               w = g.parameter("w", f32({16, 16}), glorot(2)),
               mask = g.input("mask", {ElementType::Bool, {4, 4}});
  const Tensor seen = reshape(relu(conv2d(image, filter)), {2, 4, 16}).named("seen");
  const Tensor h = attention(matmul(seen, w), seen, seen, {.mask = mask});
  const Tensor y = matmul(matmul(h, w).named("inner"), w).named("y");
  const Tensor loss = reduceMean(y * y).named("loss");
  const std::vector<Tensor> derivatives = gradients(loss, {filter, w});
  g.fetch("y", y);
  g.fetch("loss", loss);
  g.assign(filter, filter - derivatives[0] * 0.1);
  g.assign(w, w - derivatives[1] * 0.1);
  Result<Graph> graph = std::move(g).finish();
  INFO((graph ? "" : render(graph.errors())));
  REQUIRE(graph.ok());
  return *std::move(graph);
}

bool isProduct(OpKind kind) {
  return kind == OpKind::Matmul || kind == OpKind::Conv2d || kind == OpKind::Conv2dFilterGradient ||
         kind == OpKind::Attention || kind == OpKind::AttentionGradient;
}

} // namespace

TEST_CASE("set_precision: bf16 and f16 narrow every product and nothing else") {
  const Graph before = network();
  for (const auto& [precision, element, step] : {std::tuple(Precision::Bf16, ElementType::BF16, 0x1p-8),
                                                 std::tuple(Precision::F16, ElementType::F16, 0x1p-11)}) {
    const Graph after = *setPrecision(before, {precision});
    size_t products = 0;
    for (const OpId op : after.ops()) {
      const ElementType of =
          after[op].operands.empty() ? ElementType::F32 : after.typeOf(after[op].operands[0]).element;
      products += isProduct(after[op].kind()) ? 1 : 0;
      INFO(nameOf(after[op].kind()) << " of " << name(of));
      CHECK((of == element) ==
            (isProduct(after[op].kind()) || (after[op].kind() == OpKind::Cast && of == element)));
    }
    CHECK(products >= 9);
    for (const OpId op : before.ops()) { // names stay with values of their types
      const ValueId now = after.findValue(before.nameOf(op));
      REQUIRE(now.valid());
      CHECK(after.typeOf(now) == before.typeOf(before[op].firstResult));
    }
    const NamedLiterals feeds = test::randomFeeds(before, 1), parameters = test::randomParameters(before, 1);
    const auto exact = evaluate(before, feeds, parameters), rounded = evaluate(after, feeds, parameters);
    REQUIRE(exact.ok());
    REQUIRE(rounded.ok());
    double largest = 0, furthest = 0;
    const Literal &a = exact->fetches.at("y"), &b = rounded->fetches.at("y");
    for (int64_t i = 0; i < a.type().shape.elements(); ++i) {
      largest = std::max(largest, std::abs(a.at(i)));
      furthest = std::max(furthest, std::abs(a.at(i) - b.at(i)));
    }
    CHECK(furthest > 0);
    CHECK(furthest < 16 * step * largest);
  }
}

TEST_CASE("set_precision: a product that reads another's result reads it without casts") {
  const Graph after = *simplify(*setPrecision(network(), {Precision::Bf16}));
  const auto producerOf = [&](ValueId value) -> const OpRow& { return after[after[value].producer]; };
  const OpRow& cast = producerOf(after.findValue("y"));
  REQUIRE(cast.kind() == OpKind::Cast);
  const OpRow& outer = producerOf(cast.operands[0]);
  REQUIRE(outer.kind() == OpKind::Matmul);
  CHECK(producerOf(outer.operands[0]).kind() == OpKind::Matmul);
}

TEST_CASE("set_precision: a product may state bf16 or ieee in a plan of another precision") {
  const Graph graph = parsed(R"(graph g {
  input x : f32[4, 4]
  narrow = matmul(x, x, precision=bf16)
  exact = matmul(x, x, precision=ieee)
  open = matmul(x, x, transposeA=true)
  fetch narrow
  fetch exact
  fetch open
}
)");
  CHECK(printGraph(parsed(printGraph(graph))) == printGraph(graph));
  const auto elementOf = [](const Graph& settled, const char* name) {
    const OpRow* row = &settled[settled[settled.findValue(name)].producer];
    row = row->kind() == OpKind::Cast ? &settled[settled[row->operands[0]].producer] : row;
    return settled.typeOf(row->firstResult).element;
  };
  const Graph plain = *setPrecision(graph), half = *setPrecision(graph, {Precision::F16});
  CHECK(elementOf(plain, "narrow") == ElementType::BF16);
  CHECK(elementOf(plain, "open") == ElementType::F32);
  CHECK(elementOf(half, "narrow") == ElementType::BF16);
  CHECK(elementOf(half, "exact") == ElementType::F32);
  CHECK(elementOf(half, "open") == ElementType::F16);
}

TEST_CASE("set_precision: the gradients of a convolution have its precision") {
  Builder g;
  const Tensor x = g.input("x", f32({1, 2, 4, 4})), f = g.parameter("f", f32({3, 2, 3, 3}));
  const std::vector<Tensor> derivatives = gradients(reduceSum(conv2d(x, f, {}, 1, Precision::Tf32)), {x, f});
  g.fetch("dx", derivatives[0]);
  g.fetch("df", derivatives[1]);
  const Graph graph = *setPrecision(*std::move(g).finish());
  CHECK(graph[graph.opsOf(OpKind::Conv2dInputGradient)[0]].as<ops::Conv2dInputGradient>().precision ==
        Precision::Tf32);
  CHECK(graph[graph.opsOf(OpKind::Conv2dFilterGradient)[0]].as<ops::Conv2dFilterGradient>().precision ==
        Precision::Tf32);
}

} // namespace dfc
