// 200 steps of training in every precision: each loss stays near that of the same model in f64, on every
// backend. A transformer that learns a sequence by heart under Adam, and a residual convolutional net with
// batch norm under momentum.
#include "tests/conformance/contenders.h"
#include "tests/conformance/require_plan.h"

#include "ir/author/composites.h"
#include "ir/author/gradients.h"
#include "ir/author/optimizers.h"
#include "tests/support/catch.h"
#include "tests/support/random_values.h"

#include <algorithm>
#include <cmath>

using namespace dfc;
using namespace dfc::test;

namespace {

constexpr int trainedSteps = 200;

/// Makes the parameters of a model whose tensors are of one element type.
class Weights {
 public:
  Weights(Builder& g, ElementType element) : g_(g), element_(element) {}
  Tensor operator()(const Shape& shape, const Initialiser& start) {
    all.push_back(g_.parameter("w" + std::to_string(all.size()), TensorType{element_, shape}, start));
    return all.back();
  }
  int64_t seed() const { return static_cast<int64_t>(all.size()); }
  std::vector<Tensor> all;

 private:
  Builder& g_;
  ElementType element_;
};

constexpr int64_t windows = 4, length = 24, tokens = 40, width = 32, heads = 4;

Tensor transformerBlock(Weights& weight, Tensor x) {
  const auto normed = [&](Tensor t) {
    const Tensor scale = weight({width}, constantInit(1));
    return layerNorm(t, scale, weight({width}, zeros()));
  };
  const auto linear = [&](Tensor t, int64_t to) {
    const Tensor w = weight({t.shape()[1], to}, normal(0, 0.1, weight.seed()));
    return matmul(t, w) + weight({to}, zeros());
  };
  const auto headsOf = [&](Tensor t) {
    return transpose(reshape(t, {windows, length, heads, width / heads}), {0, 2, 1, 3});
  };
  const std::vector<Tensor> qkv = split(linear(normed(x), 3 * width), {width, width, width}, 1);
  const Tensor mixed = attention(headsOf(qkv[0]), headsOf(qkv[1]), headsOf(qkv[2]), {.causal = true});
  x = x + linear(reshape(transpose(mixed, {0, 2, 1, 3}), {-1, width}), width);
  return x + linear(gelu(linear(normed(x), 4 * width), Approximation::Tanh), width);
}

Graph transformer(ElementType element) {
  Builder g("transformer");
  Weights weight(g, element);
  const Tensor text = g.input("text", i64({windows, length})),
               next = g.input("next", i64({windows * length}));
  const Tensor table = weight({tokens, width}, normal(0, 0.1, 1));
  Tensor x = reshape(embedding(table, text) + weight({length, width}, normal(0, 0.1, 2)), {-1, width});
  for (int i = 0; i < 2; ++i) {
    x = transformerBlock(weight, x);
  }
  const Tensor loss = softmaxCrossEntropy(matmul(x, table, {.b = true}), next);
  adam(weight.all, gradients(loss, weight.all), {.rate = 1e-3});
  g.fetch("loss", loss);
  return requireGraph(std::move(g));
}

constexpr int64_t images = 8, imageSize = 12, channels = 16, classes = 5;

Graph convolutionalNet(ElementType element) {
  Builder g("convolutional");
  Weights weight(g, element);
  const Tensor pictures = g.input("images", f32({images, 3, imageSize, imageSize}));
  const Tensor labels = g.input("labels", i64({images}));
  const auto normed = [&](Tensor t) {
    const Tensor scale = weight({t.shape()[1]}, constantInit(1));
    return batchNormTraining(t, scale, weight({t.shape()[1]}, zeros())).result;
  };
  const auto convolved = [&](Tensor t, int64_t to) {
    const Tensor filter = weight({to, t.shape()[1], 3, 3}, heNormal(weight.seed()));
    return conv2d(t, filter, {.low = {1, 1}, .high = {1, 1}});
  };
  Tensor x = relu(normed(convolved(cast(pictures, element), channels)));
  x = relu(x + normed(convolved(x, channels)));
  x = maxPool(x, {2, 2}, {.strides = {2, 2}});
  x = relu(x + normed(convolved(relu(normed(convolved(x, channels))), channels)));
  const Tensor pooled = reduceMean(x, {2, 3});
  const Tensor logits = matmul(pooled, weight({channels, classes}, glorot(9)));
  const Tensor loss = softmaxCrossEntropy(logits, labels);
  momentum(weight.all, gradients(loss, weight.all), {.rate = 0.005, .momentum = 0.9});
  g.fetch("loss", loss);
  return requireGraph(std::move(g));
}

/// Of step number `step`: four batches in turn, whose labels are drawn, so that they have to be learnt by
/// heart.
NamedLiterals feedsOf(const Graph& graph, int step) {
  NamedLiterals feeds = randomFeeds(graph, static_cast<uint64_t>(step % 4) + 1);
  for (auto& [name, literal] : feeds) {
    const int64_t bound = name == "labels" ? classes : tokens;
    for (int64_t i = 0; literal.type().element == ElementType::I64 && i < literal.type().shape.elements();
         ++i) {
      const auto value = static_cast<int64_t>(literal.at(i)) + i * i;
      literal.set(i, static_cast<double>((value % bound + bound) % bound));
    }
  }
  return feeds;
}

std::vector<double> lossesOf(const Graph& graph, const Contender& contender, Precision precision) {
  CompileOptions options;
  options.precision = precision;
  auto session = Session::open(requirePlan(graph, contender.machine(), options), contender.options());
  INFO(render(session.errors()));
  REQUIRE(session.ok());
  std::vector<double> losses;
  for (int step = 0; step < trainedSteps; ++step) {
    const auto results = (*session)->run(feedsOf(graph, step));
    REQUIRE(results.ok());
    losses.push_back(results->at("loss").at(0));
  }
  return losses;
}

/// Largest difference of two losses of one step, relative to the first loss.
double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0;
  for (size_t step = 0; step < a.size(); ++step) {
    const double difference = std::abs(a[step] - b[step]) / a.front();
    most = std::isnan(difference) ? difference : std::max(most, difference);
  }
  return most;
}

/// What a precision may cost: its rounding of products, over 200 steps that build on one another. F16 rounds
/// a product as Tf32 does, and the tensors between products, too: twice the difference.
struct Bound {
  Precision precision;
  double most;
};

void checkLosses(Graph (*model)(ElementType), const std::vector<Bound>& bounds) {
  const Graph inF64 = model(ElementType::F64), inF32 = model(ElementType::F32);
  for (const Contender& contender : contenders(Aspect::Values)) {
    const std::vector<double> reference = lossesOf(inF64, contender, Precision::Ieee);
    CHECK(reference.back() < 0.5 * reference.front()); // it learns
    for (const Bound& bound : bounds) {
      const double found = distance(reference, lossesOf(inF32, contender, bound.precision));
      INFO(contender.name << ", precision " << static_cast<int>(bound.precision) << ": " << found);
      CHECK(found <= bound.most);
    }
  }
}

} // namespace

TEST_CASE("200 steps: a transformer's losses follow those in f64") {
  checkLosses(
      transformer,
      {{Precision::Ieee, 1e-4}, {Precision::Tf32, 5e-3}, {Precision::Bf16, 1e-1}, {Precision::F16, 1e-2}});
}

TEST_CASE("200 steps: a convolutional net's losses follow those in f64") {
  checkLosses(convolutionalNet, {{Precision::Ieee, 1e-3},
                                 {Precision::Tf32, 2e-2},
                                 {Precision::Bf16, 1e-1},
                                 {Precision::F16, 2e-1}}); // f16: a first step overflows and is left out
}
