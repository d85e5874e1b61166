#include "tools/bench/graphs/two_layer.h"

#include "ir/author/dsl.h"
#include "ir/author/gradients.h"

#include <fmt/format.h>

namespace dfc::bench {
namespace {

using Spec = TwoLayerSpec;

/// The gradients of w1 and w2 of half a batch.
std::vector<Tensor> gradientsOf(Builder& g, Tensor images, Tensor labels, Tensor w1, Tensor w2) {
  Tensor h, logits, loss;
  {
    const auto scope = g.scope("fc1 forward");
    h = relu(matmul(images, w1));
  }
  {
    const auto scope = g.scope("fc2 forward");
    logits = matmul(h, w2);
  }
  {
    const auto scope = g.scope("loss");
    loss = softmaxCrossEntropy(logits, labels) * 0.5; // the mean of the means of both halves
  }
  return gradients(loss, {w1, w2});
}

void update(Builder& g, const std::string& layer, Tensor weight, Tensor rate, Tensor first, Tensor second) {
  Tensor gradient;
  {
    const auto scope = g.scope(layer + " sum");
    gradient = first + second;
  }
  const auto scope = g.scope(layer + " update");
  g.assign(weight, weight - gradient * rate);
}

} // namespace

Result<Graph> trainingStep(const TwoLayerSpec& spec) {
  Builder g("figure");
  const auto owner = g.on(spec.owner);
  const Tensor w1 = g.parameter("w1", f32({Spec::pixels, Spec::hidden}), glorot(1));
  const Tensor w2 = g.parameter("w2", f32({Spec::hidden, Spec::classes}), glorot(2));
  constexpr int64_t half = Spec::batch / 2;
  std::array<Tensor, 2> images, labels;
  {
    const auto scope = g.scope("next_batch");
    const Tensor x = (g.input("images", f32({Spec::batch, Spec::pixels})) - 0.286) * (1 / 0.353);
    const Tensor y = g.input("labels", i64({Spec::batch}));
    for (int64_t i = 0; i < 2; ++i) {
      images[i] = slice(x, {i * half, 0}, {(i + 1) * half, Spec::pixels}).named(fmt::format("images{}", i));
      labels[i] = slice(y, {i * half}, {(i + 1) * half}).named(fmt::format("labels{}", i));
    }
  }
  std::array<std::vector<Tensor>, 2> d;
  for (size_t i = 0; i < 2; ++i) {
    const auto worker = g.on(spec.workers[i]);
    d[i] = gradientsOf(g, images[i], labels[i], w1, w2);
  }
  const Tensor rate = g.parameter("rate", f32({}), constantInit(0.25));
  update(g, "fc2", w2, rate, d[0][1], d[1][1]);
  update(g, "fc1", w1, rate, d[0][0], d[1][0]);
  const auto scope = g.scope("fc1 update");
  g.assign(rate, rate * 0.99936);
  return std::move(g).finish();
}

} // namespace dfc::bench
