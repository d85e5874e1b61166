// What pictures call an op.
#include "ir/author/builder.h"
#include "ir/author/dsl.h"
#include "ir/author/gradients.h"
#include "ir/draw/display_name.h"
#include "ir/graph/graph.h"
#include "tests/support/catch.h"

namespace dfc {
namespace {

std::string displayNameOf(const Graph& graph, std::string_view name) {
  const ValueId value = graph.findValue(name);
  REQUIRE(value.valid());
  return displayName(graph, graph[value].producer);
}

} // namespace

TEST_CASE("authors' names are shown, made-up ones are not", "[names]") {
  Builder g;
  Tensor x = g.input("x", f32({2, 2}));
  Tensor w = g.parameter("w1", f32({2, 2}));
  Tensor h = matmul(x, w).named("h0");
  Tensor y = matmul(h, w);
  Tensor again = matmul(y, w);
  Tensor loss = reduceSum(relu(again)).named("loss.3");
  const Tensor d = gradients(loss, {w}).front();
  g.assign(w, (w - d).named("w1next"));
  const auto graph = std::move(g).finish();
  REQUIRE(graph.ok());
  CHECK(displayNameOf(*graph, "x") == "x");
  CHECK(displayNameOf(*graph, "h0") == "h0");
  CHECK(displayNameOf(*graph, "matmul") == "matmul");
  CHECK(displayNameOf(*graph, "matmul.2") == "matmul");
  CHECK(displayNameOf(*graph, "loss.3") == "loss.3"); // the author's own number
  CHECK(displayNameOf(*graph, "w1.gradient") == "gradient of w1");
  CHECK(displayNameOf(*graph, "w1next") == "w1next");
  for (const OpId op : graph->ops()) {
    if ((*graph)[op].kind() == OpKind::Assign) {
      CHECK(displayName(*graph, op) == "new w1");
    }
  }
}

TEST_CASE("a fused op is shown as its parts, at most three", "[names]") {
  GraphBuilder builder;
  const OpId x = builder.append(ops::Input{{}, f32({2}), {}, {}}, {}, {"x"});
  REQUIRE(x.valid());
  ops::Fused two, four;
  REQUIRE(two.body.decode("neg:f32 %0; exp:f32 %1"));
  REQUIRE(four.body.decode("neg:f32 %0; exp:f32 %1; log:f32 %2; relu:f32 %3"));
  four.reduction = ops::Fused::Reduction::Max;
  four.axes = {0};
  const OpId first = builder.append(two, {builder.result(x)}, {"exp.7"});
  const OpId second = builder.append(four, {builder.result(x)}, {"relu"});
  const Graph& graph = builder.soFar();
  CHECK(displayName(graph, first) == "neg, exp");
  CHECK(displayName(graph, second) == "neg, exp, log, …, max");
  const OpId w = builder.append(ops::Input{{}, f32({2, 2}), {}, {}}, {}, {"w"});
  ops::FusedMatmul product;
  REQUIRE(product.body.decode("relu:f32 %0"));
  const OpId third = builder.append(product, {builder.result(w), builder.result(w)}, {"relu.2"});
  REQUIRE(third.valid());
  CHECK(displayName(graph, third) == "matmul, relu");
}

} // namespace dfc
