// See gpt.h.
#include "samples/06_gpt/gpt.h"

#include "ir/author/composites.h"
#include "ir/author/dsl.h"
#include "ir/author/gradients.h"
#include "ir/author/kv_cache.h"
#include "ir/author/layers.h"
#include "ir/author/optimizers.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace dfc::gpt {
namespace {

/// What attention makes of the queries, keys and values of a layer, each [batch, heads, length, headWidth].
using Attend = std::function<Tensor(const std::string& layer, Tensor q, Tensor k, Tensor v)>;

class Model {
 public:
  Model(Builder& g, const Sizes& sizes, int64_t seed = 0)
      : g_(g), sizes_(sizes), net_(g, Phase::Training, seed, sizes.element),
        deviation_(0.02 * std::sqrt(768.0 / static_cast<double>(sizes.width))) {
    tokenTable_ = net_.parameter("wte.weight", {sizes.vocabulary, sizes.width}, start());
    positionTable_ = net_.parameter("wpe.weight", {sizes.context, sizes.width}, start());
  }

  Tensor positionTable() const { return positionTable_; }

  /// tokens: [batch, length]; places: [length, width], a row of the position table for each.
  /// Result: [batch * length, vocabulary].
  Tensor logits(Tensor tokens, Tensor places, const Attend& attend) {
    batch_ = tokens.shape()[0];
    Tensor x = reshape(embedding(tokenTable_, tokens) + places, {-1, sizes_.width});
    for (int64_t i = 0; i < sizes_.layers; ++i) {
      const std::string layer = "h." + std::to_string(i);
      auto scope = g_.scope(layer);
      x = x + attention(layer + ".attn", net_.layerNorm(layer + ".ln_1", x), attend);
      x = x + perceptron(layer + ".mlp", net_.layerNorm(layer + ".ln_2", x));
    }
    auto scope = g_.scope("head");
    const Tensor last = net_.layerNorm("ln_f", x);
    return sizes_.quantized ? quantizedProduct("head", last, sizes_.vocabulary)
                            : matmul(last, tokenTable_, {.b = true});
  }

  /// One step of AdamW on everything that `logits` has used; vectors do not decay.
  void minimise(Tensor loss, const Training& training) const {
    std::vector<Tensor> all = net_.trained();
    const auto isMatrix = [](Tensor parameter) { return parameter.shape().rank() == 2; };
    const auto vectors = std::stable_partition(all.begin(), all.end(), isMatrix);
    const std::vector<Tensor> d = gradients(loss, all);
    const auto border = d.begin() + (vectors - all.begin());
    auto scope = g_.scope("adam");
    AdamOptions options{.rate = training.rate, .beta2 = training.beta2};
    adam({vectors, all.end()}, {border, d.end()}, options);
    options.weightDecay = training.decay;
    adam({all.begin(), vectors}, {d.begin(), border}, options);
  }

 private:
  /// Of the first weights of a matrix: GPT-2's deviation at its width.
  Initialiser start(double factor = 1) const { return normal(0, factor * deviation_, net_.nextSeed()); }

  Tensor linear(const std::string& name, Tensor x, int64_t to, double factor = 1) {
    if (!sizes_.quantized) {
      return net_.linear(name, x, to, {.start = start(factor)});
    }
    return quantizedProduct(name, x, to) + net_.parameter(name + ".bias", {to}, zeros());
  }

  /// With weights that a caller quantises and sets.
  Tensor quantizedProduct(const std::string& name, Tensor x, int64_t to) {
    const int64_t from = x.shape()[1], bits = sizes_.quantized->bits;
    const int64_t runs = sizes_.quantized->group == 0 ? 1 : from / sizes_.quantized->group;
    const Tensor q = g_.parameter(name + ".weight.q", {ElementType::U8, {to, from * bits / 8}}, zeros());
    const Tensor scales = g_.parameter(name + ".weight.scales", {sizes_.element, {to, runs}}, zeros());
    return quantizedMatmul(x, q, scales, bits);
  }

  /// A layer whose result is added to the residual stream: there are two a block, and the sum of them all is
  /// to begin at a deviation that does not grow with their number.
  Tensor projection(const std::string& name, Tensor x) {
    return linear(name, x, sizes_.width, 1 / std::sqrt(2.0 * static_cast<double>(sizes_.layers)));
  }

  Tensor attention(const std::string& name, Tensor x, const Attend& attend) {
    const int64_t w = sizes_.width;
    const std::vector<Tensor> qkv = split(linear(name + ".c_attn", x, 3 * w), {w, w, w}, 1);
    return projection(name + ".c_proj", joined(attend(name, heads(qkv[0]), heads(qkv[1]), heads(qkv[2]))));
  }

  Tensor perceptron(const std::string& name, Tensor x) {
    const Tensor hidden = gelu(linear(name + ".c_fc", x, 4 * sizes_.width), Approximation::Tanh);
    return projection(name + ".c_proj", hidden);
  }

  /// [batch * length, width] as [batch, heads, length, headWidth], and back.
  Tensor heads(Tensor x) const {
    return transpose(reshape(x, {batch_, -1, sizes_.heads, sizes_.headWidth()}), {0, 2, 1, 3});
  }
  Tensor joined(Tensor x) const { return reshape(transpose(x, {0, 2, 1, 3}), {-1, sizes_.width}); }

  Builder& g_;
  Sizes sizes_;
  Layers net_;
  double deviation_; // of the first weights: GPT-2's 0.02 at its width, so that other widths begin alike
  int64_t batch_ = 0;
  Tensor tokenTable_, positionTable_;
};

/// Every position sees itself and those before it.
Tensor causal(const std::string& /*layer*/, Tensor q, Tensor k, Tensor v) {
  return attention(q, k, v, {.causal = true});
}

/// Of one token, [1, 1], at this position of its text, with the keys and values of those before it in caches.
Tensor cachedLogits(Builder& g, Model& model, const Sizes& sizes, Tensor token, Tensor position) {
  const auto overCache = [&](const std::string& layer, Tensor q, Tensor k, Tensor v) {
    KvCache cache(
        g, layer,
        {.heads = sizes.heads, .rows = sizes.context, .width = sizes.headWidth(), .element = sizes.element});
    return cache.attend(q, k, v, position);
  };
  return model.logits(token, dynamicSlice(model.positionTable(), position, {1}, {0}), overCache);
}

} // namespace

Result<Graph> trainingStep(const Sizes& sizes, const Training& training) {
  Builder g("gpt training");
  Model model(g, sizes, training.seed);
  const Tensor windows = g.input("tokens", i64({training.batch, sizes.context + 1}));
  const Tensor seen = slice(windows, {0, 0}, {training.batch, sizes.context});
  const Tensor next = slice(windows, {0, 1}, {training.batch, sizes.context + 1});
  const Tensor logits = model.logits(seen, model.positionTable(), causal);
  const Tensor loss = softmaxCrossEntropy(logits, reshape(next, {-1}));
  model.minimise(loss, training);
  g.fetch("loss", loss);
  return std::move(g).finish();
}

Result<Graph> forwardPass(const Sizes& sizes, int64_t batch) {
  Builder g("gpt forward");
  Model model(g, sizes);
  const Tensor tokens = g.input("tokens", i64({batch, sizes.context}));
  g.fetch("logits", model.logits(tokens, model.positionTable(), causal));
  return std::move(g).finish();
}

Result<Graph> readingStep(const Sizes& sizes) {
  Builder g("gpt reading");
  Model model(g, sizes);
  const Tensor token = g.input("token", i64({1, 1}));
  const Tensor position = g.input("position", i64({}));
  g.fetch("logits", reshape(cachedLogits(g, model, sizes, token, position), {sizes.vocabulary}));
  return std::move(g).finish();
}

Result<Graph> decodingStep(const Sizes& sizes, const Sampling& sampling) {
  Builder g("gpt decoding");
  Model model(g, sizes);
  const Tensor token = g.parameter("decoding.token", i64({1, 1}));
  const Tensor position = countedPosition(g, "decoding.position", 1);
  const Tensor draws = countedPosition(g, "decoding.draws", 1);
  const Tensor logits = slice(cachedLogits(g, model, sizes, token, position), {0, 0}, {1, sampling.tokens});
  const Tensor next =
      categorical(cast(logits, ElementType::F32) * (1 / sampling.temperature), draws, sampling.seed);
  g.assign(token, reshape(next, {1, 1}));
  g.fetch("token", next);
  return std::move(g).finish();
}

} // namespace dfc::gpt
