// What the optimisers append. Their arithmetic is checked in tests/compiler/optimizers_test.cpp.
#include "ir/author/dsl.h"
#include "ir/author/gradients.h"
#include "ir/author/loss_scaling.h"
#include "ir/author/optimizers.h"
#include "ir/graph/graph.h"
#include "tests/support/catch.h"

#include <cmath>

using namespace dfc;

namespace {

size_t count(const Graph& graph, OpKind kind) {
  size_t found = 0;
  for (const OpId op : graph.ops()) {
    found += graph[op].kind() == kind ? 1U : 0U;
  }
  return found;
}

} // namespace

TEST_CASE("sgd: w - rate * g, assigned, in the present scope and pin") {
  Builder g;
  const Tensor w = g.parameter("w", f32({2, 3})), gradient = g.input("g", f32({2, 3}));
  std::vector<Tensor> next;
  uint32_t line = 0;
  {
    const auto scope = g.scope("update", "cpu");
    line = __LINE__ + 1;
    next = sgd({w}, {gradient}, 0.1);
  }
  const Result<Graph> graph = std::move(g).finish();
  REQUIRE(graph.ok());
  CHECK(graph->opCount() == 6); // two sources; the rate, mul, sub, assign
  const OpId assign = (*graph)[next[0].value()].producer;
  CHECK((*graph)[assign].kind() == OpKind::Assign);
  CHECK((*graph)[assign].operands[0] == w.value());
  CHECK(graph->nameOf(assign) == "w.next");
  for (const OpId op : graph->ops()) {
    if (op.index() >= 2) {
      CHECK(graph->scopeOf(op) == "update");
      CHECK(graph->pinOf(op) == "cpu");
      CHECK(graph->locationOf(op).file == __FILE__);
      CHECK(graph->locationOf(op).line == line);
    }
  }
}

TEST_CASE("momentum: a velocity beside each weight") {
  Builder g;
  const Tensor w1 = g.parameter("w1", f32({2})), w2 = g.parameter("w2", f64({3}));
  const auto next = momentum({w1, w2}, {g.input("g1", f32({2})), g.input("g2", f64({3}))}, 0.1);
  const Result<Graph> graph = std::move(g).finish();
  REQUIRE(graph.ok());
  CHECK(next.size() == 2);
  CHECK(count(*graph, OpKind::Assign) == 4);
  REQUIRE(graph->findValue("w1.momentum").valid());
  CHECK(graph->typeOf(graph->findValue("w2.momentum")) == f64({3}));
}

TEST_CASE("adam: two moments a weight, one pair of powers for all of an element type") {
  Builder g;
  const TensorType half{ElementType::F16, {4}};
  const Tensor w1 = g.parameter("w1", f32({2})), w2 = g.parameter("w2", f32({3})),
               w3 = g.parameter("w3", half);
  const auto next =
      adam({w1, w2, w3}, {g.input("g1", f32({2})), g.input("g2", f32({3})), g.input("g3", half)});
  const Result<Graph> graph = std::move(g).finish();
  REQUIRE(graph.ok());
  CHECK(count(*graph, OpKind::Parameter) == 3 + 3 * 2 + 2);
  CHECK(count(*graph, OpKind::Assign) == 3 + 3 * 2 + 2);
  // A 16-bit weight keeps its moments in f32: 0.001 of a small square would be 0 in f16.
  CHECK(graph->typeOf(graph->findValue("w3.adamV")) == f32({4}));
  CHECK(graph->typeOf(next[2].value()) == half);
  const OpRow& power = (*graph)[(*graph)[graph->findValue("adam.beta1Power")].producer];
  CHECK(power.as<ops::Parameter>().initialiser == ops::Parameter::Initialiser::Constant);
  CHECK(power.as<ops::Parameter>().a == 1);
}

TEST_CASE("optimisers: mistakes, each at the call") {
  Builder g;
  const Tensor w = g.parameter("w", f32({3})), small = g.input("small", f32({1}));
  const uint32_t line = __LINE__ + 1;
  CHECK_FALSE(sgd({w}, {small}, 0.1)[0].valid());
  CHECK_FALSE(momentum({w}, {}, 0.1)[0].valid());
  CHECK_FALSE(adam({w}, {w}, {.beta1 = 1})[0].valid());
  CHECK_FALSE(sgd({small}, {small}, 0.1)[0].valid());
  CHECK_FALSE(adam({w}, {w}, {.weightDecay = -1})[0].valid());
  CHECK_FALSE(momentum({w}, {w}, {.weightDecay = -1})[0].valid());
  const Diagnostics errors = std::move(g).finish().errors();
  REQUIRE(errors.size() == 6);
  CHECK(errors[0].message == "sgd of 'w', which is f32[3], with a gradient of f32[1]");
  CHECK(errors[0].hint == "give the gradients in the order of the parameters");
  CHECK(errors[1].message == "momentum of 1 parameters with 0 gradients");
  CHECK(errors[2].message == "adam with beta1 1, beta2 0.999, epsilon 1e-08, weight decay 0");
  CHECK(errors[3].message == "assign to 'small', which is no parameter but the result of input");
  CHECK(errors[4].message == "adam with beta1 0.9, beta2 0.999, epsilon 1e-08, weight decay -1");
  CHECK(errors[5].message == "momentum with a weight decay of -1");
  for (uint32_t i = 0; i < errors.size(); ++i) {
    CHECK(errors[i].where.file == __FILE__);
    CHECK(errors[i].where.line == line + i);
  }
}

TEST_CASE("loss scaling and gradient clipping: mistakes, each at the call") {
  Builder g;
  const Tensor x = g.input("x", f32({3}));
  const uint32_t line = __LINE__ + 1;
  LossScaling scaling(g, {.growth = 1});
  (void)clipByGlobalNorm({x}, 0);
  (void)scaling.unscaled({x});
  (void)scaling.unscaled({x});
  const Diagnostics errors = std::move(g).finish().errors();
  REQUIRE(errors.size() == 3);
  CHECK(errors[0].message == "loss scaling from 65536 by 1 and 0.5, every 2000 steps, from 1 up to 16777216");
  CHECK(errors[1].message == "gradients clipped to a norm of 0");
  CHECK(errors[2].message == "a second call of LossScaling::unscaled in one step");
  CHECK(errors[2].hint == "give it all gradients of the step at once");
  CHECK(errors[0].where.line == line);
  CHECK(errors[1].where.line == line + 1);
  CHECK(errors[2].where.line == line + 3);
}

TEST_CASE("loss scaling: numbers that f32 cannot divide by, or that bound no scale, are reported") {
  const LossScalingOptions least = {.initial = 0.5, .least = 0x1p-126};
  CHECK(render([&] {
          Builder g;
          LossScaling scaling(g, least);
          g.fetch("x", g.input("x", f32({})));
          return std::move(g).finish().errors();
        }()) == "");
  for (const LossScalingOptions& wrong :
       {LossScalingOptions{.initial = 0.5}, LossScalingOptions{.least = 0},
        LossScalingOptions{.least = 0x1p-130}, LossScalingOptions{.least = std::nan("")},
        LossScalingOptions{.most = 1e39}, LossScalingOptions{.most = 1024}}) {
    Builder g;
    LossScaling scaling(g, wrong);
    const Diagnostics errors = std::move(g).finish().errors();
    REQUIRE(errors.size() == 1);
    CHECK(errors[0].message.starts_with("loss scaling from "));
  }
}

TEST_CASE("optimizers: the states of two optimisers have names of their own") {
  Builder g;
  const Tensor a = g.parameter("a", f32({2})), b = g.parameter("b", f32({2}));
  const std::vector<Tensor> slopes = gradients(reduceSum(a * b), {a, b});
  adam({a}, {slopes[0]});
  adam({b}, {slopes[1]});
  const Result<Graph> graph = std::move(g).finish();
  REQUIRE(graph.ok());
  CHECK(graph->findValue("adam.beta1Power").valid());
  CHECK(graph->findValue("adam.beta1Power.2").valid());
}
