#include "samples/03_figure/graph.h"

#include "ir/author/dsl.h"
#include "ir/author/gradients.h"

namespace dfc::figure {
namespace {

struct Weights {
  Tensor w1, w2;
};

Weights weights(Builder& g) {
  return {g.parameter("w1", f32({pixels, hidden}), glorot(1)),
          g.parameter("w2", f32({hidden, classes}), glorot(2))};
}

/// Normalised by the mean and the deviation of the training images.
Tensor normalised(Tensor images) { return (images - 0.286) * (1 / 0.353); }

/// The work of one GPU: both layers forward, and the gradients of its half of the loss with respect to both
/// weights.
std::vector<Tensor> forwardAndBackward(Builder& g, Tensor images, Tensor labels, const Weights& w) {
  Tensor h, logits, loss;
  {
    auto box = g.scope("fc1 forward");
    h = relu(matmul(images, w.w1));
  }
  {
    auto box = g.scope("fc2 forward");
    logits = matmul(h, w.w2);
  }
  {
    auto box = g.scope("loss");
    loss = softmaxCrossEntropy(logits, labels) *
           0.5; // the mean over the batch is the mean of the means of its halves
  }
  return gradients(loss, {w.w1, w.w2}); // in scopes "loss gradient", "fc2 backward", "fc1 backward"
}

void update(Builder& g, const std::string& layer, Tensor weight, Tensor rate, Tensor fromGpu0,
            Tensor fromGpu1) {
  Tensor gradient;
  {
    auto box = g.scope(layer + " sum");
    gradient = fromGpu0 + fromGpu1;
  }
  auto box = g.scope(layer + " update");
  g.assign(weight, weight - gradient * rate);
}

} // namespace

Result<Graph> trainingStep(const Cast& cast) {
  Builder g("figure");
  auto cpu = g.on(cast.cpu);
  const Weights w = weights(g);

  std::array<Tensor, 2> images, labels;
  {
    auto box = g.scope("next_batch");
    const Tensor x = normalised(g.input("images", f32({batch, pixels})));
    const Tensor y = g.input("labels", i64({batch}));
    for (int64_t i = 0; i < 2; ++i) {
      images[i] = slice(x, {i * half, 0}, {(i + 1) * half, pixels}).named("images" + std::to_string(i));
      labels[i] = slice(y, {i * half}, {(i + 1) * half}).named("labels" + std::to_string(i));
    }
  }

  std::array<std::vector<Tensor>, 2> d;
  for (size_t i = 0; i < 2; ++i) {
    auto gpu = g.on(cast.gpus[i]);
    d[i] = forwardAndBackward(g, images[i], labels[i], w);
  }

  // On the CPU again. dfc inserts every copy: halves in, gradients out, new weights to both GPUs.
  const Tensor rate = g.parameter("rate", f32({}), constantInit(firstRate));
  update(g, "fc2", w.w2, rate, d[0][1], d[1][1]);
  update(g, "fc1", w.w1, rate, d[0][0], d[1][0]);
  auto last = g.scope("fc1 update");
  g.assign(rate, rate * rateDecay);
  return std::move(g).finish();
}

Result<Graph> evaluation(int64_t count) {
  Builder g("evaluation");
  const Weights w = weights(g);
  const Tensor x = normalised(g.input("images", f32({count, pixels})));
  const Tensor y = g.input("labels", i64({count}));
  const Tensor answers = argMax(matmul(relu(matmul(x, w.w1)), w.w2));
  g.fetch("accuracy", reduceMean(cast(compare(answers, y, Direction::Eq), ElementType::F32)));
  return std::move(g).finish();
}

} // namespace dfc::figure
