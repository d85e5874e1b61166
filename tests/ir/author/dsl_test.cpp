// The C++ DSL: that it reads like mathematics, and that mistakes are located where they were written.
#include "ir/author/dsl.h"

#include "tests/support/catch.h"

#include <fmt/format.h>

using namespace dfc;

namespace {

Diagnostics errorsOf(Builder&& builder) { return std::move(builder).finish().errors(); }

} // namespace

TEST_CASE("dsl: a layer and a fetch") {
  Builder g("layer");
  const Tensor x = g.input("x", f32({64, 784}));
  const Tensor w = g.parameter("w", f32({784, 256}), glorot(1));
  const Tensor b = g.parameter("b", f32({256}));
  const Tensor h = relu(matmul(x, w) + b).named("h");
  g.fetch("h", h);
  const Result<Graph> graph = std::move(g).finish();
  REQUIRE(graph.ok());
  CHECK(graph->opCount() == 6);
  CHECK(graph->typeOf(graph->findValue("h")) == f32({64, 256}));
  CHECK(graph->fetches().size() == 1);
}

TEST_CASE("dsl: every mistake is reported where it was written, and its results are passed over") {
  Builder g;
  const Tensor x = g.input("x", f32({64, 784}));
  const Tensor w = g.input("w", f32({785, 256}));
  const uint32_t line = __LINE__ + 1;
  const Tensor bad = matmul(x, w);
  const Tensor after = relu(bad) + 1;
  CHECK_FALSE(after.valid());
  const Tensor second = x + w;
  g.fetch("after", after);
  g.fetch("second", second);
  const Diagnostics errors = errorsOf(std::move(g));
  REQUIRE(errors.size() == 2);
  CHECK(errors[0].message == "matmul of f32[64, 784] and f32[785, 256]: 784 columns meet 785 rows");
  CHECK(errors[0].hint == "transpose an operand (transposeA, transposeB) or mend a shape");
  CHECK(errors[0].where.file == __FILE__);
  CHECK(errors[0].where.line == line);
  CHECK(errors[1].where.line == line + 3);
  CHECK(errors[1].message ==
        "add of f32[64, 784] and f32[785, 256]: dimension 784 of [64, 784] meets 256 of [785, 256]");
}

TEST_CASE("dsl: a number takes the other operand's element type") {
  Builder g;
  const Tensor x = g.input("x", {ElementType::F16, {3}}), n = g.input("n", i64({3}));
  const Tensor y = 2 * x - 1;
  const Tensor m = max(n, 0);
  const Tensor chosen = select(compare(n, 3, Direction::Lt), x, 0);
  CHECK(y.type() == x.type());
  CHECK(m.type() == n.type());
  CHECK(chosen.type() == x.type());
  const Graph& graph = g.graph().soFar();
  const OpRow& first = graph[graph[graph[graph[y.value()].producer].operands[0]].producer];
  CHECK(first.kind() == OpKind::Mul);
  CHECK(graph[graph[first.operands[0]].producer].as<ops::Constant>().value ==
        filledLiteral({ElementType::F16, {}}, 2));
  CHECK(std::move(g).finish().ok());
}

TEST_CASE("dsl: numbers that cannot be what they must be") {
  Builder g;
  const Tensor n = g.input("n", i32({3}));
  const Tensor yes = compare(n, n, Direction::Eq);
  const uint32_t line = __LINE__ + 1;
  CHECK_FALSE((n * 0.5).valid());
  CHECK_FALSE((n + 3e9).valid());
  CHECK_FALSE(select(yes, 1, 0).valid());
  CHECK_FALSE(select(1, n, n).valid());
  CHECK_FALSE(exp(n).valid());
  const Diagnostics errors = errorsOf(std::move(g));
  REQUIRE(errors.size() == 5);
  CHECK(errors[0].message == "mul of i32[3] and 0.5: i32 cannot hold 0.5");
  CHECK(errors[0].hint == "cast the tensor to a float type first, or give a number of its type");
  CHECK(errors[1].message == "add of i32[3] and 3000000000: i32 cannot hold 3000000000");
  CHECK(errors[2].message == "select of numbers only: they have no element type");
  CHECK(errors[3].message == "select of numbers only: they have no element type");
  for (uint32_t i = 0; i < errors.size(); ++i) {
    CHECK(errors[i].where.file == __FILE__);
    CHECK(errors[i].where.line == line + i);
  }
}

TEST_CASE("dsl: every function makes its op") {
  Builder g;
  const Tensor a = g.input("a", f32({2, 3})), b = g.input("b", f32({2, 3})), labels = g.input("l", i32({2}));
  const auto kindOfOp = [&](Tensor tensor) {
    REQUIRE(tensor.valid());
    return g.graph().soFar()[g.graph().soFar()[tensor.value()].producer].kind();
  };
  CHECK(kindOfOp(a + b) == OpKind::Add);
  CHECK(kindOfOp(a - b) == OpKind::Sub);
  CHECK(kindOfOp(a * b) == OpKind::Mul);
  CHECK(kindOfOp(a / b) == OpKind::Div);
  CHECK(kindOfOp(-a) == OpKind::Neg);
  CHECK(kindOfOp(max(a, b)) == OpKind::Maximum);
  CHECK(kindOfOp(min(a, b)) == OpKind::Minimum);
  CHECK(kindOfOp(exp(a)) == OpKind::Exp);
  CHECK(kindOfOp(log(a)) == OpKind::Log);
  CHECK(kindOfOp(sqrt(a)) == OpKind::Sqrt);
  CHECK(kindOfOp(tanh(a)) == OpKind::Tanh);
  CHECK(kindOfOp(sigmoid(a)) == OpKind::Sigmoid);
  CHECK(kindOfOp(relu(a)) == OpKind::Relu);
  CHECK(kindOfOp(pow(a, 2)) == OpKind::Pow);
  CHECK(kindOfOp(labels & 1) == OpKind::And);
  CHECK(kindOfOp(labels | labels) == OpKind::Or);
  CHECK(kindOfOp(labels ^ 7) == OpKind::Xor);
  CHECK(kindOfOp(~labels) == OpKind::Not);
  CHECK(kindOfOp(abs(a)) == OpKind::Abs);
  CHECK(kindOfOp(sign(a)) == OpKind::Sign);
  CHECK(kindOfOp(floor(a)) == OpKind::Floor);
  CHECK(kindOfOp(ceil(a)) == OpKind::Ceil);
  CHECK(kindOfOp(round(a)) == OpKind::Round);
  CHECK(kindOfOp(rsqrt(a)) == OpKind::Rsqrt);
  CHECK(kindOfOp(reciprocal(a)) == OpKind::Reciprocal);
  CHECK(kindOfOp(sin(a)) == OpKind::Sin);
  CHECK(kindOfOp(cos(a)) == OpKind::Cos);
  CHECK(kindOfOp(erf(a)) == OpKind::Erf);
  CHECK(kindOfOp(leakyRelu(a, 0.01)) == OpKind::LeakyRelu);
  CHECK(kindOfOp(gelu(a)) == OpKind::Gelu);
  CHECK(kindOfOp(silu(a)) == OpKind::Silu);
  CHECK(kindOfOp(hardSwish(a)) == OpKind::HardSwish);
  CHECK(kindOfOp(softplus(a)) == OpKind::Softplus);
  CHECK(kindOfOp(clip(a, 0, 6)) == OpKind::Clip);
  CHECK(kindOfOp(cast(a, ElementType::I32)) == OpKind::Cast);
  CHECK(kindOfOp(compare(a, b, Direction::Ge)) == OpKind::Compare);
  CHECK(kindOfOp(matmul(a, b, {.b = true})) == OpKind::Matmul);
  CHECK(kindOfOp(reduceSum(a, {0})) == OpKind::ReduceSum);
  CHECK(kindOfOp(reduceMean(a, {0})) == OpKind::ReduceMean);
  CHECK(kindOfOp(reduceMax(a, {0}, true)) == OpKind::ReduceMax);
  CHECK(kindOfOp(argMax(a)) == OpKind::ArgMax);
  CHECK(kindOfOp(softmax(a)) == OpKind::Softmax);
  CHECK(kindOfOp(logSoftmax(a)) == OpKind::LogSoftmax);
  CHECK(kindOfOp(softmaxCrossEntropy(a, labels)) == OpKind::SoftmaxCrossEntropy);
  CHECK(kindOfOp(reshape(a, {6})) == OpKind::Reshape);
  CHECK(kindOfOp(transpose(a)) == OpKind::Transpose);
  CHECK(kindOfOp(broadcast(a, {4, 2, 3})) == OpKind::Broadcast);
  CHECK(kindOfOp(concat({a, b}, 1)) == OpKind::Concat);
  CHECK(kindOfOp(slice(a, {0, 0}, {1, 1})) == OpKind::Slice);
  CHECK(kindOfOp(pad(a, {0, 0}, {1, 1})) == OpKind::Pad);
}

TEST_CASE("dsl: tensors that were never made, and tensors of another graph") {
  Builder g, other;
  const Tensor x = g.input("x", f32({2})), foreign = other.input("x", f32({2}));
  const uint32_t line = __LINE__ + 1;
  CHECK_FALSE((x + Tensor()).valid());
  CHECK_FALSE((x + foreign).valid());
  g.fetch("nothing", exp(Tensor()));
  g.fetch("foreign", foreign);
  const Diagnostics errors = errorsOf(std::move(g));
  REQUIRE(errors.size() == 4);
  CHECK(errors[0].message == "add of an empty Tensor");
  CHECK(errors[1].message == "add mixes tensors of two graphs");
  CHECK(errors[2].message == "fetch 'nothing' of an empty Tensor");
  CHECK(errors[3].message == "fetch 'foreign' mixes tensors of two graphs");
  for (uint32_t i = 0; i < errors.size(); ++i) {
    CHECK(errors[i].where.line == line + i);
  }
}

TEST_CASE("dsl: scopes nest, pins do not, and both end with their guard") {
  Builder g;
  const Tensor x = g.input("x", f32({2}));
  Tensor inner, outer, exact, pinned;
  {
    const auto a = g.scope("a", "gpu0");
    {
      const auto b = g.scope("b");
      const auto pin = g.on("gpu1");
      inner = exp(x);
      const auto alone = g.exactly("z", "");
      exact = exp(x);
    }
    outer = exp(x);
    pinned = exp(x).on("cpu").named("p");
  }
  const Tensor after = exp(x);
  const Graph& graph = g.graph().soFar();
  const auto site = [&](Tensor tensor) {
    const OpId op = graph[tensor.value()].producer;
    return fmt::format("{} @{}", graph.scopeOf(op), graph.pinOf(op));
  };
  CHECK(site(inner) == "a/b @gpu1");
  CHECK(site(exact) == "z @");
  CHECK(site(outer) == "a @gpu0");
  CHECK(site(pinned) == "a @cpu");
  CHECK(site(after) == " @");
  CHECK(graph.nameOf(pinned.value()) == "p");
}

TEST_CASE("dsl: a type stays readable while ops are appended") {
  Builder g;
  const Tensor x = g.input("x", f32({7, 5}));
  const Shape& shape = x.shape();
  const OpRow& row = g.graph().soFar()[g.graph().soFar()[x.value()].producer];
  Tensor y = x;
  for (int i = 0; i < 1000; ++i) {
    y = y + 1;
  }
  CHECK(shape == Shape({7, 5}));
  CHECK(row.kind() == OpKind::Input);
}
