// Transformers and perceptrons over images and rows; see image_families.h.
#include "ir/author/composites.h"
#include "tools/bench/graphs/families/image_families.h"

namespace dfc::bench {
namespace {

/// Patches of 16 x 16 pixels as rows: [batch, patches, 768].
Tensor patches(FamilyModel& model, const FamilySizes& sizes) {
  const int64_t side = sizes.length / 16;
  const TensorType bytes{ElementType::U8, {sizes.batch, 3, sizes.length, sizes.length}};
  const Tensor pixels = cast(model.g.input("images", bytes), ElementType::F32) * (1.0 / 128) - 1;
  const Tensor apart = reshape(pixels, {sizes.batch, 3, side, 16, side, 16});
  return reshape(transpose(apart, {0, 2, 4, 1, 3, 5}), {sizes.batch, side * side, 768});
}

/// Over the last axis, with gelu between.
Tensor perceptron(FamilyModel& model, const std::string& name, Tensor x, int64_t hidden) {
  const int64_t width = x.shape()[x.shape().rank() - 1];
  return model.linear(name + ".fc2", gelu(model.linear(name + ".fc1", x, hidden)), width);
}

} // namespace

Result<Graph> vitFamily(const FamilySizes& sizes) {
  FamilyModel model("vision transformer");
  const int64_t width = sizes.width;
  const Tensor rows = model.linear("patches", patches(model, sizes), width);
  const Tensor first = broadcast(model.weight("class", {1, 1, width}), {sizes.batch, 1, width});
  Tensor x = concat({first, rows}, 1);
  const int64_t length = x.shape()[1];
  x = reshape(x + model.weight("positions", {length, width}), {-1, width});
  for (int64_t i = 0; i < sizes.layers; ++i) {
    const std::string name = "layers." + std::to_string(i);
    const std::vector<Tensor> qkv =
        split(model.linear(name + ".qkv", model.layerNormOf(name + ".norm1", x), 3 * width),
              {width, width, width}, 1);
    const int64_t heads = width / 64;
    const Tensor seen = model.selfAttention(qkv[0], qkv[1], qkv[2], sizes.batch, heads, heads, false);
    x = x + model.linear(name + ".proj", seen, width);
    x = x + perceptron(model, name, model.layerNormOf(name + ".norm2", x), 4 * width);
  }
  const Tensor ends = slice(reshape(x, {sizes.batch, length, width}), {0, 0, 0}, {sizes.batch, 1, width});
  const Tensor logits = model.linear("head", model.layerNormOf("norm", reshape(ends, {-1, width})), 1000);
  const Tensor loss = model.classLoss("labels", logits);
  return std::move(model).minimise(loss, Update::Adam);
}

Result<Graph> mixerFamily(const FamilySizes& sizes) {
  FamilyModel model("mlp-mixer");
  Tensor x = model.linear("patches", patches(model, sizes), sizes.width);
  for (int64_t i = 0; i < sizes.layers; ++i) {
    const std::string name = "layers." + std::to_string(i);
    const Tensor turned = transpose(model.layerNormOf(name + ".norm1", x), {0, 2, 1});
    x = x + transpose(perceptron(model, name + ".tokens", turned, sizes.width / 2), {0, 2, 1});
    x = x + perceptron(model, name + ".channels", model.layerNormOf(name + ".norm2", x), 4 * sizes.width);
  }
  const Tensor logits = model.linear("head", reduceMean(model.layerNormOf("norm", x), {1}), 1000);
  const Tensor loss = model.classLoss("labels", logits);
  return std::move(model).minimise(loss, Update::Adam);
}

Result<Graph> oddPerceptronFamily(const FamilySizes& sizes) {
  FamilyModel model("odd perceptron");
  Tensor x = model.g.input("rows", f32({sizes.batch, sizes.length}));
  for (int64_t i = 0; i < sizes.layers; ++i) {
    x = relu(model.linear("fc" + std::to_string(i), x, sizes.width + 101 * i));
  }
  const Tensor loss = model.classLoss("labels", model.linear("head", x, 77));
  return std::move(model).minimise(loss, Update::Momentum);
}

Result<Graph> twoHeadsFamily(const FamilySizes& sizes) {
  FamilyModel model("two heads");
  Tensor x = model.linear("in", model.g.input("rows", f32({sizes.batch, sizes.length})), sizes.width);
  for (int64_t i = 0; i < sizes.layers; ++i) {
    const std::string name = "layers." + std::to_string(i);
    x = x + perceptron(model, name, model.layerNormOf(name + ".norm", x), 4 * sizes.width);
  }
  const Tensor classes = model.classLoss("labels", model.linear("classes", x, 1000));
  const Tensor inner = tanh(model.linear("inner", x, sizes.width));
  const Tensor values = model.linear("values", inner, 4);
  const Tensor miss = FamilyModel::squaredLoss(values, model.g.input("targets", f32({sizes.batch, 4})));
  const Tensor sparse = reduceMean(abs(inner));
  model.g.fetch("classes", classes);
  model.g.fetch("miss", miss);
  return std::move(model).minimise(classes + miss * 0.5 + sparse * 1e-3, Update::Adam);
}

Result<Graph> recommenderFamily(const FamilySizes& sizes) {
  FamilyModel model("recommender");
  constexpr int64_t tables = 8;
  const int64_t width = sizes.width;
  Tensor dense = model.g.input("dense", f32({sizes.batch, 16}));
  dense = relu(model.linear("bottom.1", relu(model.linear("bottom.0", dense, 512)), width));
  std::vector<Tensor> rows = {reshape(dense, {sizes.batch, 1, width})};
  const Tensor ids = model.g.input("ids", i64({sizes.batch, tables}));
  for (int64_t i = 0; i < tables; ++i) {
    const Tensor table = model.weight("table" + std::to_string(i), {sizes.length, width});
    rows.push_back(embedding(table, slice(ids, {0, i}, {sizes.batch, i + 1})));
  }
  const Tensor all = concat(rows, 1); // [batch, tables + 1, width]
  const Tensor pairs = reshape(matmul(all, all, {.b = true}), {sizes.batch, -1});
  Tensor x = concat({dense, pairs}, 1);
  for (int64_t i = 0; i < sizes.layers; ++i) {
    x = relu(model.linear("top." + std::to_string(i), x, 8 * width));
  }
  const Tensor score = reshape(model.linear("score", x, 1), {sizes.batch});
  const Tensor clicked = model.g.input("clicked", f32({sizes.batch}));
  const Tensor loss = reduceMean(softplus(score) - score * clicked);
  return std::move(model).minimise(loss, Update::Momentum);
}

Result<Graph> contrastiveFamily(const FamilySizes& sizes) {
  FamilyModel model("contrastive");
  const auto tower = [&](const std::string& name) {
    Tensor x = model.linear(name + ".in", model.g.input(name, f32({sizes.batch, sizes.length})), sizes.width);
    for (int64_t i = 0; i < sizes.layers; ++i) {
      const std::string layer = name + "." + std::to_string(i);
      x = x + perceptron(model, layer, model.layerNormOf(layer + ".norm", x), 4 * sizes.width);
    }
    const Tensor y = model.product(name + ".out", x, 512);
    return y * rsqrt(reduceSum(y * y, {1}, true) + 1e-6);
  };
  const Tensor a = tower("texts"), b = tower("images");
  const Tensor products = matmul(a, b, {.b = true}) * exp(model.vector("temperature", 1, 2));
  const Tensor own = iota(model.g, i64({sizes.batch}));
  const Tensor loss = softmaxCrossEntropy(products, own) + softmaxCrossEntropy(transpose(products), own);
  return std::move(model).minimise(loss * 0.5, Update::Adam);
}

} // namespace dfc::bench
