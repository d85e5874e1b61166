// The C++ DSL: that it reads like mathematics, and that mistakes are located where they were written.
#include "ir/author/dsl.h"

#include "ir/graph/graph.h"
#include "tests/support/catch.h"

#include <fmt/format.h>

#include <limits>

using namespace dfc;

namespace {

Diagnostics errorsOf(Builder&& builder) { return std::move(builder).finish().errors(); }

// Whether `call` throws std::logic_error with `words` in it.
template <class Call>
bool says(Call call, std::string_view words) {
  try {
    call();
  } catch (const std::logic_error& error) {
    return std::string_view(error.what()).find(words) != std::string_view::npos;
  }
  return false;
}

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

TEST_CASE("dsl: code that computes with the shape of a mistake runs on, and the mistake is reported") {
  Builder g;
  const Tensor x = g.input("x", f32({64, 784}));
  const uint32_t line = __LINE__ + 1;
  Tensor bad = matmul(x, g.input("w", f32({785, 256})));
  CHECK_FALSE(bad.valid());
  const Shape shape = bad.shape();
  const size_t rank = shape.rank();
  REQUIRE(rank >= 4); // so that the axes below exist
  CHECK(10 / shape[1] == 10);
  const Tensor next =
      matmul(bad, g.parameter("next", {bad.type().element, {shape[rank - 1], 10}}, glorot(1)));
  CHECK_FALSE(next.valid());
  Dims halves(shape.dims().begin(), shape.dims().end());
  halves.push_back(2);
  CHECK_FALSE(reshape(bad, halves).valid());
  for (size_t axis = 0; axis < rank; ++axis) {
    bad = reduceMean(bad, {static_cast<int64_t>(axis)}, true);
  }
  const Tensor loss = reduceSum(bad) * (1.0 / static_cast<double>(shape.elements()));
  CHECK_FALSE(gradients(loss, {x})[0].valid());
  g.fetch("loss", loss);
  const Diagnostics errors = errorsOf(std::move(g));
  REQUIRE(errors.size() == 1);
  CHECK(errors[0].where.line == line);
}

TEST_CASE("dsl: dimensions that make no shape are reported where the op is written, behind what came first") {
  Builder g;
  const uint32_t line = __LINE__ + 1;
  const Tensor image = g.input("a", f32({2})) + g.input("b", f32({3}));
  const Tensor kernel = g.parameter("kernel", f32({image.shape()[2] - 5, 4}), glorot(1));
  const Tensor position = iota(g, i64({int64_t(1) << 40, int64_t(1) << 40}));
  const Tensor value = g.constant(filledLiteral(f32({-2}), 1));
  CHECK_FALSE(kernel.valid());
  CHECK_FALSE(position.valid());
  CHECK_FALSE(value.valid());
  const Diagnostics errors = errorsOf(std::move(g));
  REQUIRE(errors.size() == 4);
  CHECK(errors[0].message == "add of f32[2] and f32[3]: dimension 2 of [2] meets 3 of [3]");
  CHECK(errors[1].where.line == line + 1);
  CHECK(errors[1].message == "parameter of f32[-4, 4]: no tensor may have this shape");
  CHECK(errors[2].message == "iota of i64[1099511627776, 1099511627776]: no tensor may have this shape");
  CHECK(errors[3].message == "constant of f32[-2]: no tensor may have this shape");
}

TEST_CASE("dsl: the type of a tensor that never had a value") {
  CHECK_THROWS_AS(Tensor().type(), std::logic_error);
  try {
    (void)Tensor().shape();
  } catch (const std::logic_error& error) {
    CHECK(std::string(error.what()) == "type or shape of an empty Tensor: give it a value before it is used");
  }
}

TEST_CASE("dsl: a tensor or a Builder after finish says so") {
  Builder g("done");
  const Tensor x = g.input("x", f32({3}));
  g.fetch("y", x + 1);
  REQUIRE(std::move(g).finish());
  const std::string finished = "after finish(): write everything before, or begin another Builder";
  CHECK(says([&] { (void)(x.type()); }, finished));
  CHECK(says([&] { (void)(x * 2); }, finished));
  CHECK(says([&] { (void)(x.named("z")); }, finished));
  CHECK(says([&] { (void)(x.on("cpu0")); }, finished));
  CHECK(says([&] { (void)(g.input("y", f32({3}))); }, finished));
  CHECK(says([&] { g.fetch("z", x); }, finished));
  CHECK(says([&] { (void)(std::move(g).finish()); }, finished));
  CHECK(says([&] { (void)(attention(x, x, x)); }, finished));
  CHECK(says([&] { (void)(gradients(x, {x})); }, finished));
  Builder other;
  CHECK(says([&] { (void)(other.input("a", f32({3})) + x); }, finished));
}

TEST_CASE("dsl: two parameters or inputs of one name are a mistake of the second") {
  Builder g;
  const uint32_t line = __LINE__ + 1;
  const Tensor w = g.parameter("w", f32({3}));
  CHECK_FALSE(g.parameter("w", f32({4})).valid());
  CHECK_FALSE(g.input("w", f32({3})).valid());
  CHECK(g.parameter("v", f32({3})).named("w").valid());
  CHECK(w.named("w").valid()); // its own name again
  const Diagnostics errors = errorsOf(std::move(g));
  REQUIRE(errors.size() == 3);
  CHECK(errors[0].message == "parameter 'w' has the name of an earlier parameter");
  CHECK(errors[0].hint ==
        fmt::format("the first is written at {}:{}; give each its own name, by which it is fed "
                    "or restored",
                    __FILE__, line));
  CHECK(errors[0].where.line == line + 1);
  CHECK(errors[1].message == "input 'w' has the name of an earlier parameter");
  CHECK(errors[2].message == "parameter 'w' has the name of an earlier parameter");
  CHECK(errors[2].where.line == line + 3);
}

TEST_CASE("dsl: an author's parameter keeps its name, other results and derived parameters give way") {
  Builder g;
  const Tensor x = g.input("x", f32({3}));
  const Tensor made = relu(x), named = (x + 1).named("w");
  const Tensor w = g.parameter("w", f32({3})), second = g.parameter("relu", f32({3}));
  const Tensor derived = g.derivedParameter("w", f32({3})), other = (x * x).named("w");
  const Graph& graph = g.graph().soFar();
  CHECK(graph.nameOf(w.value()) == "w");
  CHECK(graph.nameOf(second.value()) == "relu");
  CHECK(graph.nameOf(made.value()) == "relu.2");
  CHECK(graph.nameOf(named.value()) == "w.2");
  CHECK(graph.nameOf(derived.value()) == "w.3");
  CHECK(graph.nameOf(other.value()) == "w.4");
  CHECK(graph.findValue("relu") == second.value());
  CHECK(std::move(g).finish().ok());
}

TEST_CASE("dsl: parameters that a pass derives are the plan's, and other results give way to them") {
  GraphBuilder graph;
  Builder pass(graph), author;
  const Tensor named = (pass.input("x", f32({3})) + 1).named("scale");
  const Tensor ofPlan = pass.derivedParameter("scale", f32({})),
               own = author.derivedParameter("scale", f32({}));
  const auto parameterOf = [](const Graph& of, Tensor made) {
    return of[of[made.value()].producer].as<ops::Parameter>();
  };
  CHECK(parameterOf(graph.soFar(), ofPlan).ofPlan);
  CHECK_FALSE(parameterOf(author.graph().soFar(), own).ofPlan);
  CHECK(graph.soFar().nameOf(ofPlan.value()) == "scale");
  CHECK(graph.soFar().nameOf(named.value()) == "scale.2");
}

TEST_CASE("dsl: a mistake in a function that is called often names the scope in which it happened") {
  Builder g;
  const auto encoder = g.scope("encoder");
  const auto layer = [&](int number, int64_t width) {
    const auto scope = g.scope(fmt::format("layer {}", number));
    const Tensor x = g.input(fmt::format("x{}", number), f32({2, width}));
    return matmul(x, g.parameter(fmt::format("w{}", number), f32({8, 8}), glorot(1)));
  };
  for (int number = 0; number < 12; ++number) {
    layer(number, number == 7 ? 9 : 8);
  }
  g.report(std::source_location::current(), "another", "");
  const Diagnostics errors = errorsOf(std::move(g));
  REQUIRE(errors.size() == 2);
  CHECK(errors[0].note == "in scope 'encoder/layer 7'");
  CHECK(render(errors[0]).find("\n  note: in scope 'encoder/layer 7'\n  hint: ") != std::string::npos);
  CHECK(errors[1].note == "in scope 'encoder'");
}

TEST_CASE("dsl: outside any scope a mistake has no note") {
  Builder g;
  const Tensor bad = g.input("a", f32({2})) + g.input("b", f32({3}));
  CHECK_FALSE(bad.valid());
  CHECK(errorsOf(std::move(g)).front().note.empty());
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

TEST_CASE("dsl: a number too large for a float type is warned of") {
  Builder g;
  const Tensor x = g.input("x", TensorType{ElementType::F16, {3}});
  const uint32_t line = __LINE__ + 1;
  g.fetch("scaled", x * 1e6);
  g.fetch("largest", max(x, 65504.0)); // f16's own
  g.fetch("masked", max(x, -std::numeric_limits<double>::infinity()));
  g.fetch("wide", cast(x, ElementType::F32) * 1e6);
  g.scalar(ElementType::BF16, -1e39);
  const Diagnostics& warnings = g.graph().warnings();
  REQUIRE(warnings.size() == 2);
  CHECK(warnings[0].message == "1000000 is too large for f16: it becomes inf");
  CHECK(warnings[0].where.line == line);
  CHECK(warnings[0].hint == "cast to a wider type first; write infinity where it is meant");
  CHECK(warnings[1].message == "-1e+39 is too large for bf16: it becomes -inf");
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
  const auto provenance = [&](Tensor tensor) {
    const OpId op = graph[tensor.value()].producer;
    return fmt::format("{} @{}", graph.scopeOf(op), graph.pinOf(op));
  };
  CHECK(provenance(inner) == "a/b @gpu1");
  CHECK(provenance(exact) == "z @");
  CHECK(provenance(outer) == "a @gpu0");
  CHECK(provenance(pinned) == "a @cpu");
  CHECK(provenance(after) == " @");
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
