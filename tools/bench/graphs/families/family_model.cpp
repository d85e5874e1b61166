// See family_model.h.
#include "tools/bench/graphs/families/family_model.h"

#include "ir/author/composites.h"
#include "ir/author/gradients.h"
#include "ir/author/optimizers.h"

namespace dfc::bench {

Tensor FamilyModel::weight(const std::string& name, const Shape& shape) {
  weights_.push_back(
      g.parameter(name, f32(shape), normal(0, 0.02, static_cast<int64_t>(weights_.size()) + 1)));
  return weights_.back();
}

Tensor FamilyModel::vector(const std::string& name, int64_t length, double start) {
  weights_.push_back(g.parameter(name, f32({length}), constantInit(start)));
  return weights_.back();
}

Tensor FamilyModel::frozen(const std::string& name, const Shape& shape) {
  return g.parameter(name, f32(shape), normal(0, 0.02, 1));
}

Tensor FamilyModel::product(const std::string& name, Tensor x, int64_t to) {
  return matmul(x, weight(name + ".weight", {x.shape()[x.shape().rank() - 1], to}));
}

Tensor FamilyModel::linear(const std::string& name, Tensor x, int64_t to) {
  const Tensor y = product(name, x, to);
  return y + vector(name + ".bias", to, 0);
}

Tensor FamilyModel::layerNormOf(const std::string& name, Tensor x) {
  const int64_t width = x.shape()[x.shape().rank() - 1];
  const Tensor scale = vector(name + ".weight", width, 1);
  return layerNorm(x, scale, vector(name + ".bias", width, 0));
}

Tensor FamilyModel::convolution(const std::string& name, Tensor x, int64_t to, int64_t size, int64_t stride,
                                int64_t groups) {
  const Tensor filter = weight(name + ".weight", {to, x.shape()[1] / groups, size, size});
  const int64_t around = size / 2;
  return conv2d(x, filter, {.strides = {stride, stride}, .low = {around, around}, .high = {around, around}},
                groups);
}

Tensor FamilyModel::batchNormOf(const std::string& name, Tensor x) {
  const int64_t channels = x.shape()[1];
  const Tensor scale = vector(name + ".weight", channels, 1), bias = vector(name + ".bias", channels, 0);
  const Tensor mean = g.parameter(name + ".running_mean", f32({channels}));
  const Tensor variance = g.parameter(name + ".running_var", f32({channels}), constantInit(1));
  const Normalised batch = batchNormTraining(x, scale, bias);
  const auto n = static_cast<double>(x.shape().elements() / channels);
  g.assign(mean, mean * 0.9 + batch.mean * 0.1);
  g.assign(variance, variance * 0.9 + batch.variance * (0.1 * n / (n - 1)));
  return batch.result;
}

Tensor FamilyModel::selfAttention(Tensor q, Tensor k, Tensor v, int64_t batch, int64_t heads,
                                  int64_t keyHeads, bool causal) {
  const auto apart = [&](Tensor x, int64_t count) {
    return transpose(reshape(x, {batch, -1, count, x.shape()[1] / count}), {0, 2, 1, 3});
  };
  const Tensor seen = attention(apart(q, heads), apart(k, keyHeads), apart(v, keyHeads), {.causal = causal});
  return reshape(transpose(seen, {0, 2, 1, 3}), {-1, q.shape()[1]});
}

Tensor FamilyModel::classLoss(const std::string& name, Tensor logits) {
  return softmaxCrossEntropy(logits, g.input(name, i64({logits.shape()[0]})));
}

Tensor FamilyModel::squaredLoss(Tensor a, Tensor b) {
  const Tensor miss = a - b;
  return reduceMean(miss * miss);
}

Result<Graph> FamilyModel::minimise(Tensor loss, Update update) && {
  std::vector<Tensor> d = gradients(loss, weights_);
  {
    auto scope = g.scope("update");
    if (update == Update::ClippedAdam) {
      d = clipByGlobalNorm(d, 1);
    }
    if (update != Update::Momentum) {
      adam(weights_, d, {.rate = 1e-4, .weightDecay = 0.01});
    } else {
      momentum(weights_, d, MomentumOptions{.rate = 0.01, .weightDecay = 1e-4});
    }
  }
  g.fetch("loss", loss);
  return std::move(g).finish();
}

} // namespace dfc::bench
