// What a plan of bf16 or f16 stores in that type between its products.
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

#include <cmath>
#include <tuple>

namespace dfc {
namespace {

using test::parsed;

using ops::Precision;

// The losses of one step differ, by less than `bound` of the exact one.
void checkRoundedLoss(const Graph& before, const Graph& after, double bound) {
  const NamedLiterals feeds = test::randomFeeds(before, 1), parameters = test::randomParameters(before, 1);
  const auto exact = evaluate(before, feeds, parameters), rounded = evaluate(after, feeds, parameters);
  REQUIRE(exact.ok());
  REQUIRE(rounded.ok());
  const double a = exact->fetches.at("loss").at(0), b = rounded->fetches.at("loss").at(0);
  CHECK(a != b);
  CHECK(std::abs(a - b) < bound * std::abs(a));
}

} // namespace

namespace {

// A residual block, pooled, with its gradients.
Graph residualBlock() {
  Builder g;
  const Tensor image = g.input("image", f32({4, 8, 6, 6})),
               filter = g.parameter("filter", f32({8, 8, 3, 3}), heNormal(1)),
               scale = g.parameter("scale", f32({8}), constantInit(1)), bias = g.parameter("bias", f32({8}));
  const Window around{.low = {1, 1}, .high = {1, 1}};
  const Tensor first = relu(conv2d(image, filter, around)).named("first");
  const Normalised normal = batchNormTraining(conv2d(first, filter, around), scale, bias);
  const Tensor sum = relu(normal.result.named("normal") + first).named("sum");
  const Tensor pooled = maxPool(sum, {2, 2}, {.strides = {2, 2}}).named("pooled");
  const Tensor loss = reduceMean(pooled * pooled).named("loss");
  const std::vector<Tensor> derivatives = gradients(loss, {filter, scale, bias});
  g.fetch("loss", loss);
  g.fetch("mean", normal.mean);
  g.assign(filter, filter - derivatives[0] * 0.1);
  g.assign(scale, scale - derivatives[1] * 0.1);
  g.assign(bias, bias - derivatives[2] * 0.1);
  Result<Graph> graph = std::move(g).finish();
  INFO((graph ? "" : render(graph.errors())));
  REQUIRE(graph.ok());
  return *std::move(graph);
}

} // namespace

TEST_CASE("set_precision: batch norms and pools between products are narrow, their statistics f32") {
  const Graph before = residualBlock();
  const Graph after = *simplify(*setPrecision(*fuseBatchNorm(before), {Precision::Bf16}));
  size_t norms = 0;
  for (const OpId op : after.ops()) {
    const OpRow& row = after[op];
    if (row.kind() == OpKind::BatchNormTraining || row.kind() == OpKind::BatchNormGradient) {
      CHECK(after.typeOf(row.operands[0]).element == ElementType::BF16);
      CHECK(after.typeOf(row.operands[1]).element == ElementType::F32);
      CHECK(after.typeOf(row.firstResult).element == ElementType::BF16);
      ++norms;
    }
    if (row.kind() == OpKind::MaxPool || row.kind() == OpKind::MaxPoolGradient) {
      CHECK(after.typeOf(row.firstResult).element == ElementType::BF16);
    }
  }
  CHECK(norms == 2);
  // Several readers (a convolution, the sum, the gradient): stored in bf16, and cast back for f32 readers.
  const OpRow& wide = after[after[after.findValue("first")].producer];
  REQUIRE(wide.kind() == OpKind::Cast);
  CHECK(after.typeOf(wide.operands[0]).element == ElementType::BF16);

  checkRoundedLoss(before, after, 0x1p-5); // a few roundings of 2^-9 each
}

namespace {

// A classifier with a bias and views between the product and the loss, trained, with its loss read twice.
constexpr const char* classifier = R"(graph classifier {
  input x : f32[8, 16]
  input labels : i64[8]
  parameter w : f32[16, 24] = normal(0, 0.5, seed=1)
  parameter b : f32[24] = normal(0, 0.5, seed=2)
  h = reshape(matmul(x, w), shape=[2, 4, 24])
  y = h + b
  logits = reshape(y, shape=[8, 24])
  loss = softmaxCrossEntropy(logits, labels)
  dw, db = gradients(loss, w, b)
  assign(w, w - 0.1 * dw)
  assign(b, b - 0.1 * db)
  fetch loss
}
)";

Graph narrowedClassifier(const std::string& text, Precision precision) {
  Graph graph = *setPrecision(*expandGradients(parsed(text), {}), {precision});
  return *dropDeadOps(*fuseElementwise(*simplify(*narrowMovement(graph, {}))), {});
}

// The ops that write f32 elements in memory, as many as there are logits.
std::vector<std::string> wideTensors(const Graph& graph, int64_t elements) {
  std::vector<std::string> names;
  for (const OpId op : graph.ops()) {
    for (const ValueId result : graph[op].results()) {
      const TensorType& type = graph.typeOf(result);
      if (type.element == ElementType::F32 && type.shape.elements() == elements) {
        names.emplace_back(graph.nameOf(result));
      }
    }
  }
  return names;
}

} // namespace

TEST_CASE("set_precision: a chain between narrow tensors is rounded at its end, where it is stored") {
  Builder g("chain");
  const Tensor x = g.input("x", f32({8, 16})), w = g.parameter("w", f32({16, 16})),
               v = g.parameter("v", f32({16, 16}));
  const Tensor t = tanh(matmul(x, w) * 2).named("t");
  const Tensor stored = (matmul(x, v) * (1 - t * t)).named("stored");
  g.fetch("next", matmul(stored, w));
  g.fetch("sums", reduceSum(stored, {0}));
  const Tensor once = (matmul(x, v) * (2 - t * t)).named("once"); // read by one op alone
  g.fetch("last", reduceSum(once, {0}));
  const Tensor mixed = (matmul(x, v) * (3 - t * t) * x).named("mixed"); // x is no narrow tensor
  g.fetch("other", matmul(mixed, w));
  g.fetch("otherSums", reduceSum(mixed, {0}));
  const Graph settled = *setPrecision(*std::move(g).finish(), {Precision::Bf16});
  const auto elementOf = [&](std::string_view name) {
    const ValueId value = settled.findValue(name);
    return value.valid() ? std::optional(settled.typeOf(value).element) : std::nullopt;
  };
  CHECK(elementOf("stored.f32") == ElementType::F32);
  CHECK(elementOf("stored.bf16") == ElementType::BF16);
  CHECK(elementOf("stored") == ElementType::F32); // cast back for the sum
  for (const char* name : {"t.f32", "once.f32", "mixed.f32"}) {
    INFO(name);
    CHECK_FALSE(elementOf(name).has_value());
  }
}

TEST_CASE("set_precision: a gradient divided by the loss's scale leaves f16's range, and stays f32") {
  const Graph graph = parsed(R"(graph g {
  input x : f32[4, 8]
  parameter w : f32[8, 4] = normal(0, 1, seed=1)
  parameter m : f32[8, 4] = zeros()
  parameter v : f32[8, 4] = zeros()
  parameter scale : f32[] = constant(65536)
  y = matmul(x, w)
  dw = gradients(reduceMean(y * y) * scale, w)
  unscaled = dw / scale
  fetch norm = reduceSum(unscaled * unscaled)
  assign(m, m * 0.9 + unscaled)
  assign(v, v * 0.9 + unscaled * unscaled)
}
)");
  const Graph expanded = *expandGradients(graph);
  CHECK_FALSE(setPrecision(expanded, {Precision::F16})->findValue("unscaled.f16").valid());
  CHECK(
      setPrecision(expanded, {Precision::Bf16})->findValue("unscaled.bf16").valid()); // has the range of f32
}

TEST_CASE("set_precision: logits from a product and their gradient are narrow, the loss f32") {
  for (const auto& [precision, element] :
       {std::pair(Precision::Bf16, ElementType::BF16), std::pair(Precision::F16, ElementType::F16)}) {
    const Graph after = narrowedClassifier(classifier, precision);
    INFO(printGraph(after));
    CHECK(wideTensors(after, 8 * 24).empty());
    const OpRow& loss = after[after.opsOf(OpKind::SoftmaxCrossEntropy)[0]];
    CHECK(after.typeOf(loss.operands[0]).element == element);
    CHECK(after.typeOf(loss.firstResult) == f32({}));
    CHECK(loss.as<ops::SoftmaxCrossEntropy>().loss == LossType::F32);
    const OpRow& gradient = after[after.opsOf(OpKind::SoftmaxCrossEntropyGradient)[0]];
    CHECK(after.typeOf(gradient.firstResult).element == element);
    CHECK(after.typeOf(gradient.operands[2]).element == ElementType::F32);
    CHECK(after.findValue("loss").valid());
    CHECK(after.typeOf(after.findValue("loss")) == f32({}));
  }
}

TEST_CASE("set_precision: logits that nothing but the loss reads are narrow, too") {
  const std::string text(classifier);
  const auto from = text.find("  dw,"), to = text.find("  fetch");
  CHECK(wideTensors(narrowedClassifier(text.substr(0, from) + text.substr(to), Precision::Bf16), 8 * 24)
            .empty());
}

TEST_CASE("set_precision: narrow logits without a bias give the loss of the product's result cast to f32") {
  const Graph graph = parsed(R"(graph g {
  input x : f32[8, 16]
  input labels : i64[8]
  input w : f32[16, 24]
  product = matmul(x, w)
  wide = reshape(product, shape=[2, 4, 24])
  loss = softmaxCrossEntropy(reshape(wide, shape=[8, 24]), labels)
  fetch wide
  fetch loss
}
)");
  const Graph after = *dropDeadOps(*simplify(*setPrecision(graph, {Precision::Bf16})));
  INFO(printGraph(after));
  for (const OpId op : after.opsOf(OpKind::Cast)) { // a view for the loss, no second cast of what is fetched
    CHECK((after.typeOf(after[op].firstResult).element == ElementType::F32 ||
           after[after[after[op].operands[0]].producer].kind() == OpKind::Input));
  }
  NamedLiterals feeds = test::randomFeeds(graph, 1);
  for (int64_t i = 0; i < 8; ++i) {
    feeds.at("labels").set(i, static_cast<double>(3 * i));
  }
  const auto rounded = evaluate(after, feeds, {});
  REQUIRE(rounded.ok());
  const Literal& wide = rounded->fetches.at("wide");
  Literal logits(f32({8, 24}));
  for (int64_t i = 0; i < 8 * 24; ++i) {
    logits.set(i, wide.at(i));
  }
  CHECK(rounded->fetches.at("loss") ==
        evaluateOp(ops::SoftmaxCrossEntropy{}, std::vector<Literal>{logits, feeds.at("labels")})[0]);
}

TEST_CASE("set_precision: logits that no product made and f16 logits of an author stay so") {
  const Graph graph = *setPrecision(parsed(R"(graph g {
  input x : f32[4, 4]
  input half : f16[4, 4]
  input labels : i64[4]
  a = softmaxCrossEntropy(x, labels)
  b = softmaxCrossEntropy(half, labels)
  c = softmaxCrossEntropy(half, labels, loss=f32)
  z = matmul(x, x)
  fetch a
  fetch b
  fetch c
  fetch z
}
)"),
                                    {Precision::F16});
  const auto loss = [&](const char* name) -> const OpRow& {
    return graph[graph[graph.findValue(name)].producer];
  };
  CHECK(graph.typeOf(loss("a").operands[0]).element == ElementType::F32);
  CHECK(loss("a").as<ops::SoftmaxCrossEntropy>().loss == LossType::Unstated);
  CHECK(graph.typeOf(loss("b").firstResult).element == ElementType::F16);
  CHECK(graph.typeOf(loss("c").firstResult).element == ElementType::F32);
}

TEST_CASE("set_precision: an image in f32 that no product made stays so") {
  const Graph graph = *setPrecision(parsed(R"(graph g {
  input x : f32[2, 3, 4, 4]
  input s : f32[3]
  input w : f32[4, 4]
  y, mean, variance = batchNormTraining(x, s, s)
  p = maxPool(y, window=[2, 2])
  z = matmul(w, w)
  fetch p
  fetch z
}
)"),
                                    {Precision::Bf16});
  CHECK(graph.typeOf(graph[graph.opsOf(OpKind::BatchNormTraining)[0]].firstResult).element ==
        ElementType::F32);
  CHECK(graph.typeOf(graph[graph.opsOf(OpKind::MaxPool)[0]].firstResult).element == ElementType::F32);
}

namespace {

// Blocks of a norm, a product and an activation, trained; `residual` reads the norm's result in f32, too.
Graph normedProducts(bool residual) {
  Builder g;
  const Tensor x = g.input("x", f32({6, 8})), w = g.parameter("w", f32({8, 8}), normal(0, 0.4, 1)),
               v = g.parameter("v", f32({8, 8}), normal(0, 0.4, 2)),
               scale = g.parameter("scale", f32({8}), constantInit(1)), bias = g.parameter("bias", f32({8}));
  const Tensor normal1 = layerNorm(matmul(x, w) + x, scale, bias).named("normal");
  const Tensor h = gelu(matmul(normal1, v), Approximation::Tanh).named("h");
  const Tensor y = matmul(h, w) + (residual ? normal1 : x);
  const Tensor loss = reduceMean(rmsNorm(y, scale) * y).named("loss");
  const std::vector<Tensor> d = gradients(loss, {w, v, scale});
  g.assign(w, w - d[0]);
  g.assign(v, v - d[1]);
  g.assign(scale, scale - d[2]);
  g.fetch("loss", loss);
  Result<Graph> graph = std::move(g).finish();
  REQUIRE(graph.ok());
  return *std::move(graph);
}

// All values of so many elements that the plan stores, by their element type.
size_t storedIn(const Graph& graph, ElementType element, int64_t elements) {
  size_t count = 0;
  for (const OpId op : graph.ops()) {
    for (const ValueId result : graph[op].results()) {
      const TensorType& type = graph.typeOf(result);
      count += type.element == element && type.shape.elements() == elements ? 1 : 0;
    }
  }
  return count;
}

} // namespace

TEST_CASE("set_precision: norms that products alone read write 16 bits, and read 16-bit cotangents") {
  for (const auto& [precision, element, result] :
       {std::tuple(Precision::Bf16, ElementType::BF16, NormResult::Bf16),
        std::tuple(Precision::F16, ElementType::F16, NormResult::F16)}) {
    const Graph after = *setPrecision(normedProducts(false), {precision});
    const OpRow& norm = after[after.opsOf(OpKind::LayerNorm)[0]];
    CHECK(norm.as<ops::LayerNorm>().result == result);
    CHECK(after.typeOf(norm.operands[0]).element == ElementType::F32);
    CHECK(after.typeOf(norm.firstResult).element == element);
    const OpRow& gradient = after[after.opsOf(OpKind::LayerNormGradient)[0]];
    CHECK(after.typeOf(gradient.operands[2]).element == element);
    CHECK(after.typeOf(gradient.firstResult).element == ElementType::F32);
    // The last norm's result is multiplied in f32.
    CHECK(after[after.opsOf(OpKind::RmsNorm)[0]].as<ops::RmsNorm>().result == NormResult::Unstated);
  }
}

TEST_CASE("set_precision: a norm that a residual reads, too, and one of a plan in f32 write f32") {
  const auto resultOf = [](const Graph& graph, Precision precision) {
    const Graph after = *setPrecision(graph, {precision});
    return after[after.opsOf(OpKind::LayerNorm)[0]].as<ops::LayerNorm>().result;
  };
  CHECK(resultOf(normedProducts(true), Precision::Bf16) == NormResult::Unstated);
  CHECK(resultOf(normedProducts(false), Precision::Tf32) == NormResult::Unstated);
}

TEST_CASE("set_precision: what fusion keeps inside a loop is not rounded") {
  // GELU's derivative reads the operand, its cube and tanh again and again: none of them is stored.
  const Graph narrow = *setPrecision(normedProducts(false), {Precision::Bf16});
  const Graph after = *dropDeadOps(*fuseMatmul(*fuseElementwise(*simplify(narrow))));
  CHECK(storedIn(after, ElementType::BF16, 48) > 0);
  for (const OpId op : after.ops()) {
    const auto* fused = after[op].getIf<ops::Fused>();
    if (fused == nullptr || after.typeOf(after[op].firstResult).element != ElementType::BF16) {
      continue;
    }
    INFO(after.nameOf(op));
    CHECK(std::string(after.nameOf(op)).find("clip") == std::string::npos);
  }
  const Graph before = normedProducts(false);
  checkRoundedLoss(before, after, 0x1p-4);
}

} // namespace dfc
