// recognise_attention beside its golden cases: gradients, rules that pin, long sequences, chains of ops.
#include "compiler/compile.h"
#include "compiler/interpreter/evaluate.h"
#include "compiler/passes/constant_values.h"
#include "compiler/passes/passes.h"
#include "ir/author/dsl.h"
#include "ir/author/gradients.h"
#include "ir/author/text/parse.h"
#include "ir/graph/graph.h"
#include "ir/machine/machine.h"
#include "ir/plan/executable_parts.h"
#include "runtime/executable_folder.h"
#include "tests/support/catch.h"
#include "tests/support/random_values.h"

#include <cmath>
#include <limits>

using namespace dfc;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// softmax(mask(q kᵀ / 8)) v of one head of this many places, with the scores that `mask` gives for scores.
template <class Mask>
Tensor written(Builder& g, int64_t places, Mask mask) {
  const Tensor q = g.parameter("q", f32({1, 1, places, 64}), normal(0, 1, 1)),
               k = g.parameter("k", f32({1, 1, places, 64}), normal(0, 1, 2)),
               v = g.parameter("v", f32({1, 1, places, 64}), normal(0, 1, 3));
  Transposes transposed;
  transposed.b = true;
  const Tensor scores = mask(matmul(q, k, transposed) / 8.0);
  return matmul(softmax(scores).named("weights"), v).named("y");
}

Tensor causal(Builder& g, Tensor scores) {
  const int64_t places = scores.shape()[3];
  const Tensor query = reshape(iota(g, i64({places})), {places, 1}), key = iota(g, i64({places}));
  return select(compare(key, query, Direction::Gt), -infinity, scores);
}

Graph finished(Builder&& g) {
  Result<Graph> graph = std::move(g).finish();
  INFO((graph ? "" : render(graph.errors())));
  REQUIRE(graph.ok());
  return *std::move(graph);
}

size_t count(const Graph& graph, OpKind kind) { return graph.opsOf(kind).size(); }

// A training step with what an author may do with gradients: rename, pin, differentiate again, ask for an
// intermediate value's.
struct Training {
  bool ofWeights = false, second = false, pinned = false;
  Graph graph() const {
    Builder g;
    const Tensor y = written(g, 7, [&](Tensor scores) { return causal(g, scores); });
    const Builder& builder = g;
    const Graph& soFar = g.graph().soFar();
    const auto named = [&](const char* name) {
      return Tensor(const_cast<Builder*>(&builder), soFar.findValue(name));
    };
    const Tensor q = named("q"), k = named("k"), v = named("v");
    std::vector<Tensor> wrt = {q, k, v};
    if (ofWeights) {
      wrt.push_back(named("weights"));
    }
    std::vector<Tensor> slopes = gradients(reduceMean(y * y), wrt);
    if (second) {
      slopes.push_back(gradients(reduceSum(slopes[0] * slopes[0]), {k})[0].named("again"));
    }
    slopes[1] = slopes[1].named("dk");
    if (pinned) {
      slopes[0] = slopes[0].on("gpu1"); // of three results of one op
    }
    for (size_t i = 0; i < slopes.size(); ++i) {
      g.fetch("slope" + std::to_string(i), slopes[i]);
    }
    g.assign(q, q - slopes[0]);
    return finished(std::move(g));
  }
};

void checkNear(const Graph& before, const Graph& after) {
  const NamedLiterals parameters = test::randomParameters(before, 3);
  const auto expected = evaluate(before, {}, parameters), actual = evaluate(after, {}, parameters);
  REQUIRE(expected.ok());
  REQUIRE(actual.ok());
  for (const auto& [name, value] : expected->fetches) {
    INFO(name);
    for (int64_t i = 0; i < value.type().shape.elements(); ++i) {
      REQUIRE(std::abs(value.at(i) - actual->fetches.at(name).at(i)) < 1e-5);
    }
  }
}

} // namespace

TEST_CASE("recognise_attention: gradients that the DSL has written are written anew, of the op") {
  const Graph before = Training{}.graph(), after = *dropDeadOps(*recogniseAttention(before));
  CHECK(count(after, OpKind::Attention) == 1);
  CHECK(count(after, OpKind::AttentionGradient) == 1);
  CHECK(count(after, OpKind::Softmax) + count(after, OpKind::Matmul) == 0);
  CHECK(after[after.findValue("dk")].producer == after[after.findValue("q.gradient")].producer);
  checkNear(before, after);
}

TEST_CASE("recognise_attention: the gradients of a graph file are those of the op") {
  const Graph file = *parseGraph("graph g {\n  parameter q : f32[4, 8] = normal(0, 1, seed=1)\n  parameter k "
                                 ": f32[5, 8] = normal(0, 1, seed=2)\n"
                                 "  s = matmul(q, k, transposeB=true)\n  w = softmax(s)\n  y = matmul(w, k)\n"
                                 "  z = mul(y, y)\n  loss = reduceSum(z)\n  dq, dk = gradients(loss, q, k)\n"
                                 "  fetch dq\n  fetch dk\n}\n",
                                 "g.dfg");
  const Graph after = *expandGradients(*recogniseAttention(file));
  CHECK(count(after, OpKind::AttentionGradient) == 1);
  checkNear(*expandGradients(file), after);
}

TEST_CASE("recognise_attention: gradients of gradients, and a gradient that is pinned") {
  const Graph before = Training{.ofWeights = false, .second = true, .pinned = true}.graph();
  const Graph after = *dropDeadOps(*recogniseAttention(before));
  CHECK(count(after, OpKind::Attention) == 1);
  CHECK(after.findValue("again").valid());
  const ValueId dq = after.fetches()[0].value;
  CHECK(after.pinOf(after[dq].producer) == "gpu1");
  checkNear(before, after);
}

TEST_CASE("recognise_attention: weights whose gradient is asked for stay") {
  const Graph before = Training{.ofWeights = true, .second = false, .pinned = false}.graph();
  CHECK(count(*recogniseAttention(before), OpKind::Attention) == 0);
}

TEST_CASE("recognise_attention: a long causal mask is known without its contents") {
  Builder g;
  g.fetch("y", written(g, 100'000, [&](Tensor scores) { return causal(g, scores); }));
  const Graph graph = finished(std::move(g));
  REQUIRE(graph.typeOf(graph.findValue("weights")).shape.elements() > ConstantValues::mostElements);
  const Graph after = *recogniseAttention(graph);
  REQUIRE(count(after, OpKind::Attention) == 1);
  CHECK(after[after.opsOf(OpKind::Attention).front()].as<ops::Attention>().causal);
}

TEST_CASE("recognise_attention: a ramp that does not span the scores is no causal mask") {
  // Keys count 0, 1, 0, 1, …: the comparison's contents say which keys are seen.
  Builder g;
  const Tensor y = written(g, 4, [&](Tensor scores) {
    const Tensor key = reshape(broadcast(iota(g, i64({2})), {2, 2}), {1, 4});
    return select(compare(key, iota(g, i64({4, 1})), Direction::Le), scores, -infinity);
  });
  g.fetch("y", y);
  const Graph after = *recogniseAttention(finished(std::move(g)));
  REQUIRE(count(after, OpKind::Attention) == 1);
  const OpId op = after.opsOf(OpKind::Attention).front();
  CHECK_FALSE(after[op].as<ops::Attention>().causal);
  CHECK(after[op].operands.size() == 4);
}

TEST_CASE("recognise_attention: rules that pin a part of it leave it as it is written") {
  const Machine machine = *readMachine(shippedFile("samples/machines/cpu-2gpu.json").string());
  const auto attentions = [&](std::vector<PinRule> pins) {
    Builder g;
    g.fetch("y", written(g, 7, [&](Tensor scores) { return causal(g, scores); }));
    CompileOptions options;
    options.pins = std::move(pins);
    const auto plan = compile(finished(std::move(g)), machine, RooflineCostModel(), options);
    INFO((plan ? "" : render(plan.errors())));
    REQUIRE(plan.ok());
    return count(plan->graph(), OpKind::Attention);
  };
  CHECK(attentions({}) == 1);
  CHECK(attentions({{"*", "gpu0"}}) == 1);
  CHECK(attentions({{"weights", "gpu0"}}) == 0);
  CHECK(attentions({{"y", "gpu0"}}) == 0);
}

TEST_CASE("recognise_attention: a mask behind a long chain of ops is not looked for to its end") {
  for (const bool inRamp : {false, true}) {
    Builder g;
    const Tensor y = written(g, 4, [&](Tensor scores) {
      Tensor key = broadcast(iota(g, f32({1, 4}), 1), {4, 4});
      Tensor mask = compare(key, iota(g, f32({4, 1})), Direction::Le);
      for (int i = 0; i < 50'000; ++i) {
        key = cast(key, i % 2 == 0 ? ElementType::F64 : ElementType::F32);
        mask = i % 2 == 0 ? mask & mask : mask | mask;
      }
      return select(inRamp ? compare(key, iota(g, f32({4, 1})), Direction::Le) : mask, scores, -infinity);
    });
    g.fetch("y", y);
    const Graph after = *recogniseAttention(finished(std::move(g)));
    REQUIRE(count(after, OpKind::Attention) == 1); // with the mask as an operand, whatever it is
    CHECK(after[after.opsOf(OpKind::Attention).front()].operands.size() == 4);
  }
}
