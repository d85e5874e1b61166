// The structure of what `gradients` appends: which ops, with which scopes, pins and places. Values are
// checked against differences in tests/compiler/gradients_test.cpp.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rule.h"
#include "ir/author/gradients.h"
#include "ir/graph/graph.h"
#include "tests/support/catch.h"
#include "tests/support/op_samples.h"

#include <fmt/format.h>
#include <map>
#include <set>

using namespace dfc;

namespace {

std::vector<std::string> newKinds(const Graph& graph, size_t before) {
  std::vector<std::string> kinds;
  for (const OpId op : graph.ops()) {
    if (op.index() >= before) {
      kinds.emplace_back(nameOf(graph[op].kind()));
    }
  }
  return kinds;
}

using Kinds = std::vector<std::string>;

} // namespace

TEST_CASE("gradientScope: forward becomes backward, another scope gets a gradient after its name") {
  CHECK(gradientScope("").empty());
  CHECK(gradientScope("fc1 forward") == "fc1 backward");
  CHECK(gradientScope("gpu0/fc1 forward/forward gear") == "gpu0/fc1 backward/forward gear");
  CHECK(gradientScope("a forward/b forward") == "a forward/b backward");
  CHECK(gradientScope("loss") == "loss gradient");
}

TEST_CASE("gradients: the two-layer MLP gives the products that one would write by hand") {
  Builder g;
  const Tensor x = g.input("x", f32({32, 784}));
  const Tensor labels = g.input("labels", i64({32}));
  const Tensor w1 = g.parameter("w1", f32({784, 256}), glorot(1));
  const Tensor w2 = g.parameter("w2", f32({256, 10}), glorot(2));
  Tensor h, logits, loss;
  {
    const auto scope = g.scope("fc1 forward", "gpu0");
    h = relu(matmul(x, w1));
  }
  {
    const auto scope = g.scope("fc2 forward", "gpu0");
    logits = matmul(h, w2);
  }
  {
    const auto scope = g.scope("loss", "gpu1");
    loss = softmaxCrossEntropy(logits, labels);
  }
  const Graph& graph = g.graph().soFar();
  const size_t before = graph.opCount();
  const std::vector<Tensor> both = gradients(loss, {w1, w2});
  REQUIRE(g.graph().errors().empty());

  // Seed; the loss; fc2 for h and w2; relu's mask; fc1 for w1 only, because nobody asked about x.
  CHECK(newKinds(graph, before) == Kinds{"constant", "softmaxCrossEntropyGradient", "matmul", "matmul",
                                         "constant", "compare", "constant", "select", "matmul"});
  CHECK(both[0].type() == w1.type());
  CHECK(both[1].type() == w2.type());
  CHECK(graph.nameOf(both[0].value()) == "w1.gradient");
  CHECK(graph.nameOf(both[1].value()) == "w2.gradient");

  const OpRow& forW1 = graph[graph[both[0].value()].producer];
  CHECK(forW1.as<ops::Matmul>().transposeA); // x^T g
  CHECK_FALSE(forW1.as<ops::Matmul>().transposeB);
  CHECK(forW1.operands[0] == x.value());
  const OpId forW2 = graph[both[1].value()].producer;
  CHECK(graph[forW2].operands[0] == h.value());

  std::map<std::string, std::set<std::string>> pinsOfScope;
  for (const OpId op : graph.ops()) {
    if (op.index() >= before) {
      pinsOfScope[std::string(graph.scopeOf(op))].insert(std::string(graph.pinOf(op)));
    }
  }
  CHECK(pinsOfScope == std::map<std::string, std::set<std::string>>{{"fc1 backward", {"gpu0"}},
                                                                    {"fc2 backward", {"gpu0"}},
                                                                    {"loss gradient", {"gpu1"}}});
}

TEST_CASE("gradients: the ops are said to be written where the forward op was") {
  Builder g;
  const Tensor x = g.parameter("x", f32({3}));
  const uint32_t line = __LINE__ + 1;
  const Tensor y = exp(x);
  const Tensor loss = reduceSum(y);
  const auto result = gradients(loss, {x});
  const Graph& graph = g.graph().soFar();
  const SourceLocation where = graph.locationOf(graph[result[0].value()].producer);
  CHECK(where.file == __FILE__);
  CHECK(where.line == line);
}

TEST_CASE("gradients: contributions are summed where the value is made") {
  Builder g;
  Tensor w, a, b;
  {
    const auto pin = g.scope("weights", "cpu");
    w = g.parameter("w", f32({4}));
  }
  {
    const auto pin = g.scope("left forward", "gpu0");
    a = reduceSum(exp(w));
  }
  {
    const auto pin = g.scope("right forward", "gpu1");
    b = reduceSum(tanh(w));
  }
  const Tensor loss = a + b;
  const Tensor gradient = gradients(loss, {w})[0];
  const Graph& graph = g.graph().soFar();
  const OpId sum = graph[gradient.value()].producer;
  CHECK(graph[sum].kind() == OpKind::Add);
  CHECK(graph.pinOf(sum) == "cpu");
  CHECK(graph.scopeOf(sum) == "weights gradient");
  // The last use first.
  CHECK(graph.pinOf(graph[graph[sum].operands[0]].producer) == "gpu1");
  CHECK(graph.pinOf(graph[graph[sum].operands[1]].producer) == "gpu0");
}

TEST_CASE("gradients: what was broadcast is summed back, in as few ops as may be") {
  Builder g;
  const Tensor x = g.input("x", f32({2, 3}));
  const Tensor row = g.parameter("row", f32({3})), column = g.parameter("column", f32({2, 1}));
  const Tensor corner = g.parameter("corner", f32({1}));
  const Graph& graph = g.graph().soFar();
  const auto kindsFor = [&](Tensor parameter) {
    const Tensor loss = reduceSum(x + parameter);
    const size_t before = graph.opCount();
    CHECK(gradients(loss, {parameter})[0].type() == parameter.type());
    return newKinds(graph, before);
  };
  CHECK(kindsFor(row) == Kinds{"constant", "broadcast", "reduceSum"});
  CHECK(kindsFor(column) == Kinds{"constant", "broadcast", "reduceSum"});
  CHECK(kindsFor(corner) == Kinds{"constant", "broadcast", "reduceSum", "reshape"});
  CHECK(g.graph().errors().empty());
}

TEST_CASE("gradients: a reduction over leading axes needs no reshape") {
  Builder g;
  const Tensor x = g.parameter("x", f32({2, 3}));
  const Graph& graph = g.graph().soFar();
  const auto kindsOver = [&](Dims axes) {
    const Tensor loss = reduceSum(reduceSum(x, std::move(axes)));
    const size_t before = graph.opCount();
    gradients(loss, {x});
    return newKinds(graph, before);
  };
  CHECK(kindsOver({0}) == Kinds{"constant", "broadcast", "broadcast"});
  CHECK(kindsOver({1}) == Kinds{"constant", "broadcast", "reshape", "broadcast"});
}

TEST_CASE("gradients: zeros for what the loss does not depend on, one for the loss itself") {
  Builder g;
  const Tensor x = g.parameter("x", f32({2, 3}));
  const Tensor unused = g.parameter("unused", f64({5}));
  const Tensor labels = cast(argMax(x, 0), ElementType::F32); // through integers: no path
  const Tensor loss = reduceSum(labels);
  const auto results = gradients(loss, {x, unused, loss});
  const Graph& graph = g.graph().soFar();
  REQUIRE(g.graph().errors().empty());
  CHECK(results[0].type() == x.type());
  CHECK(results[1].type() == unused.type());
  CHECK(results[2].type() == f32({}));
  const auto constantBehind = [&](Tensor tensor) {
    ValueId value = tensor.value();
    if (graph[graph[value].producer].kind() == OpKind::Broadcast) {
      value = graph[graph[value].producer].operands[0];
    }
    return graph[graph[value].producer].as<ops::Constant>().value.at(0);
  };
  CHECK(constantBehind(results[0]) == 0);
  CHECK(constantBehind(results[1]) == 0);
  CHECK(constantBehind(results[2]) == 1);
}

TEST_CASE("gradients: an x between another x and the loss stops nothing") {
  Builder g;
  const Tensor x = g.parameter("x", f32({3}));
  const Tensor y = exp(x);
  const auto results = gradients(reduceSum(y), {x, y});
  const Graph& graph = g.graph().soFar();
  CHECK(graph[graph[results[1].value()].producer].kind() == OpKind::Broadcast);
  const OpRow& forX = graph[graph[results[0].value()].producer];
  CHECK(forX.kind() == OpKind::Mul);
  CHECK(forX.operands[0] == results[1].value());
}

TEST_CASE("gradients: an assign passes the gradient to the value, none to the parameter") {
  Builder g;
  const Tensor x = g.parameter("x", f32({3}));
  const Tensor state = g.parameter("state", f32({3}));
  const Tensor next = g.assign(state, exp(x));
  const auto results = gradients(reduceSum(next), {x, state});
  CHECK(g.graph().errors().empty());
  const Graph& graph = g.graph().soFar();
  CHECK(graph[graph[results[0].value()].producer].kind() == OpKind::Mul);
  const OpRow& zero = graph[graph[results[1].value()].producer];
  CHECK(zero.kind() == OpKind::Broadcast);
  CHECK(graph[graph[zero.operands[0]].producer].as<ops::Constant>().value.at(0) == 0);
}

TEST_CASE("gradients: a cut passes the gradient as it is, and does not ask that it be cut") {
  Builder g;
  const Tensor x = g.input("x", f32({4, 2}));
  const Tensor loss = reduceSum(exp(cut(x, 0, "gpu*")));
  const size_t before = g.graph().soFar().opCount();
  const Tensor dx = gradients(loss, {x})[0];
  CHECK(dx.valid());
  const std::vector<std::string> kinds = newKinds(g.graph().soFar(), before);
  CHECK(std::count(kinds.begin(), kinds.end(), "cut") == 0);
}

TEST_CASE("gradients: mistakes") {
  Builder g, other;
  const Tensor x = g.parameter("x", f32({3})), labels = g.input("labels", i64({3}));
  const Tensor loss = reduceSum(x), longer = g.parameter("longer", f32({4}));
  const uint32_t line = __LINE__ + 1;
  CHECK_FALSE(gradients(x, {x})[0].valid());
  CHECK_FALSE(gradients(loss, {labels, x})[0].valid());
  CHECK_FALSE(gradients(loss, {other.input("y", f32({}))})[0].valid());
  CHECK_FALSE(gradients(loss, {Tensor()})[0].valid());
  CHECK_FALSE(gradients(matmul(x, longer), {x})[0].valid()); // poisoned: only matmul's own error
  const Diagnostics errors = std::move(g).finish().errors();
  REQUIRE(errors.size() == 5);
  CHECK(errors[0].message == "gradients of 'x', which is f32[3]: the loss is no scalar of a float type");
  CHECK(errors[0].hint == "reduce it to one number with reduceMean or reduceSum");
  CHECK(errors[1].message == "gradients for 'labels', which is i64[3]: only float tensors have gradients");
  CHECK(errors[2].message == "gradients mixes tensors of two graphs");
  CHECK(errors[3].message == "gradients for an empty Tensor");
  for (uint32_t i = 0; i < errors.size(); ++i) {
    CHECK(errors[i].where.file == __FILE__);
    CHECK(errors[i].where.line == line + i);
  }
}

TEST_CASE("gradients: no silent zero through an op without a rule") {
  Builder g;
  const Tensor logits = g.parameter("logits", f32({2, 3})), labels = g.input("labels", i64({2}));
  const uint32_t lossLine = __LINE__ + 1;
  const Tensor loss = softmaxCrossEntropy(logits, labels);
  const Tensor once = gradients(loss, {logits})[0];
  const uint32_t line = __LINE__ + 1;
  gradients(reduceSum(once * once), {logits});
  const Diagnostics errors = std::move(g).finish().errors();
  REQUIRE(errors.size() == 1);
  CHECK(errors[0].message ==
        fmt::format("softmaxCrossEntropyGradient 'logits.gradient' ({}:{}) has no second "
                    "derivative for 'logits'",
                    __FILE__, lossLine));
  CHECK(errors[0].hint == "write the loss with logSoftmax, which can be differentiated again and again");
  CHECK(errors[0].where.line == line);
}

TEST_CASE("gradients: of an f32 loss of 16-bit logits, in the type of the logits") {
  Builder g("narrow");
  const Tensor logits = g.parameter("logits", {ElementType::BF16, {2, 3}}),
               labels = g.input("labels", i64({2}));
  const Tensor loss = softmaxCrossEntropy(logits, labels, LossType::F32);
  CHECK(loss.type() == f32({}));
  const Tensor derivative = gradients(loss * 3, {logits})[0];
  REQUIRE(g.graph().errors().empty());
  CHECK(derivative.type() == logits.type());
  const Graph& graph = g.graph().soFar();
  const OpRow& row = graph[graph[derivative.value()].producer];
  REQUIRE(row.kind() == OpKind::SoftmaxCrossEntropyGradient);
  CHECK(graph.typeOf(row.operands[2]) == f32({})); // 3, not rounded
}

TEST_CASE("gradients: every op of the table gives gradients of its operands' types, or says that it cannot") {
  for (size_t i = 0; i < opKindCount; ++i) {
    const auto kind = static_cast<OpKind>(i);
    if (classOf(kind) == OpClass::Source || classOf(kind) == OpClass::Request) {
      continue; // no operands, or replaced before anything is differentiated
    }
    INFO(nameOf(kind));
    const test::OpSample sample = test::sampleOf(kind);
    Builder g;
    std::vector<Tensor> operands, wanted;
    for (const TensorType& type : sample.operands) {
      operands.push_back(g.parameter(fmt::format("x{}", operands.size()), type));
      if (isFloat(type.element)) {
        wanted.push_back(operands.back());
      }
    }
    const Tensor result = g.op(sample.attributes, operands, std::source_location::current());
    const bool path = isFloat(result.type().element);
    const Tensor loss = path ? reduceSum(result) : reduceSum(cast(result, ElementType::F32));
    const std::vector<Tensor> results = gradients(loss, wanted);
    CHECK(g.graph().errors().empty() == !test::hasNoGradient(kind));
    for (size_t x = 0; x < wanted.size(); ++x) {
      CHECK(results[x].type() == wanted[x].type());
    }
  }
}

TEST_CASE("gradients: a parameter that the loss does not reach is a warning beside the graph") {
  Builder g;
  const Tensor x = g.input("x", f32({3}));
  const Tensor used = g.parameter("used", f32({3})), unused = g.parameter("unused", f32({3}));
  const Tensor loss = reduceSum(x * used).named("loss");
  const uint32_t line = __LINE__ + 1;
  const std::vector<Tensor> slopes = gradients(loss, {used, unused});
  g.fetch("slope", slopes[1]);
  const Result<Graph> graph = std::move(g).finish();
  REQUIRE(graph.ok());
  REQUIRE(graph.warnings().size() == 1);
  CHECK(graph.warnings()[0].severity == Severity::Warning);
  CHECK(graph.warnings()[0].message == "'loss' does not depend on parameter 'unused': its gradient is zeros");
  CHECK(graph.warnings()[0].where.line == line);
  CHECK(render(graph.warnings()).find(": warning: 'loss'") != std::string::npos);
}

TEST_CASE("gradients: parameters that the loss does not reach are one warning") {
  Builder g;
  std::vector<Tensor> parameters = {g.parameter("used", f32({3}))};
  for (int i = 0; i < 6; ++i) {
    parameters.push_back(g.parameter(fmt::format("w{}", i), f32({3})));
  }
  const Tensor loss = reduceSum(parameters.front()).named("loss");
  g.fetch("slope", gradients(loss, parameters).back());
  const Result<Graph> graph = std::move(g).finish();
  REQUIRE(graph.ok());
  REQUIRE(graph.warnings().size() == 1);
  CHECK(graph.warnings()[0].message ==
        "'loss' does not depend on parameters 'w0', 'w1', 'w2', 'w3' and 2 more: "
        "their gradients are zeros");
  CHECK(graph.warnings()[0].hint == "use the parameters in the loss, or leave them out of the request");
}
