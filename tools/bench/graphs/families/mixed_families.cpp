// See mixed_families.h.
#include "tools/bench/graphs/families/mixed_families.h"

#include "ir/author/composites.h"
#include "ir/author/gradients.h"
#include "ir/author/layers.h"
#include "ir/author/optimizers.h"

namespace dfc::bench {
namespace {

std::string nameOfLayer(int64_t i) { return "layers." + std::to_string(i); }

/// x [batch * length, width] through `layers` blocks of attention and a perceptron.
Tensor throughBlocks(FamilyModel& model, const std::string& prefix, Tensor x, int64_t layers, int64_t batch,
                     bool causal) {
  const int64_t width = x.shape()[1], heads = width / 64;
  for (int64_t i = 0; i < layers; ++i) {
    const std::string name = prefix + nameOfLayer(i);
    const Tensor all = model.linear(name + ".qkv", model.layerNormOf(name + ".norm1", x), 3 * width);
    const std::vector<Tensor> qkv = split(all, {width, width, width}, 1);
    const Tensor seen = model.selfAttention(qkv[0], qkv[1], qkv[2], batch, heads, heads, causal);
    x = x + model.linear(name + ".proj", seen, width);
    const Tensor hidden = gelu(model.linear(name + ".fc1", model.layerNormOf(name + ".norm2", x), 4 * width));
    x = x + model.linear(name + ".fc2", hidden, width);
  }
  return x;
}

/// Rows of the table for tokens [batch, length], plus positions: [batch * length, width].
Tensor embeddedRows(FamilyModel& model, const Tensor& table, const Tensor& tokens) {
  const int64_t length = tokens.shape()[1], width = table.shape()[1];
  return reshape(embedding(table, tokens) + model.weight("positions", {length, width}), {-1, width});
}

} // namespace

Result<Graph> tiedTransformerFamily(const FamilySizes& sizes) {
  FamilyModel model("tied transformer");
  const Tensor windows = model.g.input("tokens", i64({sizes.batch, sizes.length + 1}));
  const Tensor table = model.weight("embedding.weight", {50257, sizes.width});
  const Tensor seen = slice(windows, {0, 0}, {sizes.batch, sizes.length});
  const Tensor next = reshape(slice(windows, {0, 1}, {sizes.batch, sizes.length + 1}), {-1});
  Tensor x = throughBlocks(model, "", embeddedRows(model, table, seen), sizes.layers, sizes.batch, true);
  x = model.layerNormOf("norm", x);
  const Tensor loss = softmaxCrossEntropy(matmul(x, table, {.b = true}), next);
  return std::move(model).minimise(loss, Update::Adam);
}

Result<Graph> maskedTokensFamily(const FamilySizes& sizes) {
  FamilyModel model("masked tokens");
  const Tensor tokens = model.g.input("tokens", i64({sizes.batch, sizes.length}));
  const int64_t asked = sizes.batch * sizes.length / 8;
  const Tensor rows = model.g.input("rows", i64({asked}));
  const Tensor table = model.weight("embedding.weight", {30522, sizes.width});
  const Tensor x =
      throughBlocks(model, "", embeddedRows(model, table, tokens), sizes.layers, sizes.batch, false);
  const Tensor hidden = gelu(model.linear("head", gather(x, rows), sizes.width));
  const Tensor logits = matmul(model.layerNormOf("norm", hidden), table, {.b = true});
  return std::move(model).minimise(model.classLoss("labels", logits), Update::ClippedAdam);
}

Result<Graph> gruFamily(const FamilySizes& sizes) {
  Builder g("gru");
  Layers layers(g);
  Tensor x = g.input("frames", f32({sizes.batch, sizes.length, sizes.width}));
  for (int64_t i = 0; i < sizes.layers; ++i) {
    x = layers.gru(nameOfLayer(i), x, sizes.width).all;
  }
  const Tensor last = reshape(slice(x, {0, sizes.length - 1, 0}, {sizes.batch, sizes.length, sizes.width}),
                              {sizes.batch, sizes.width});
  const Tensor labels = g.input("labels", i64({sizes.batch}));
  const Tensor loss = softmaxCrossEntropy(layers.linear("head", last, 1000), labels);
  adam(layers.trained(), gradients(loss, layers.trained()), {.rate = 1e-4});
  g.fetch("loss", loss);
  return std::move(g).finish();
}

Result<Graph> messagePassingFamily(const FamilySizes& sizes) {
  FamilyModel model("message passing");
  const int64_t nodes = sizes.batch, edges = sizes.batch * sizes.length, width = sizes.width;
  const Tensor from = model.g.input("from", i64({edges})), to = model.g.input("to", i64({edges}));
  Tensor x = model.linear("in", model.g.input("features", f32({nodes, 128})), width);
  const Tensor none = broadcast(model.g.constant(Literal::scalar(0.0F)), {nodes, width});
  for (int64_t i = 0; i < sizes.layers; ++i) {
    const std::string name = nameOfLayer(i);
    const Tensor sums = scatterAdd(none, to, gather(x, from)) * (1.0 / static_cast<double>(sizes.length));
    x = x + relu(model.linear(name + ".own", x, width) + model.product(name + ".others", sums, width));
    x = model.layerNormOf(name + ".norm", x);
  }
  return std::move(model).minimise(model.classLoss("labels", model.linear("head", x, 64)), Update::Adam);
}

Result<Graph> adversarialFamily(const FamilySizes& sizes) {
  Builder g("adversarial");
  Layers makes(g, Phase::Training, 1), judges(g, Phase::Training, 2);
  const int64_t width = sizes.width;
  Tensor fake = g.input("noise", f32({sizes.batch, 128}));
  for (int64_t i = 0; i < sizes.layers; ++i) {
    fake = relu(makes.linear("generator." + nameOfLayer(i), fake, width));
  }
  fake = tanh(makes.linear("generator.out", fake, sizes.length));
  std::vector<Tensor> weights;
  const auto judged = [&](Tensor x) { // with the same weights each time
    size_t at = 0;
    const auto layer = [&](Tensor of, int64_t out) {
      if (at == weights.size()) {
        const std::string name = "discriminator." + nameOfLayer(static_cast<int64_t>(at) / 2);
        weights.push_back(
            judges.parameter(name + ".weight", {of.shape()[1], out}, glorot(judges.nextSeed())));
        weights.push_back(judges.parameter(name + ".bias", {out}, constantInit(0)));
      }
      at += 2;
      return matmul(of, weights[at - 2]) + weights[at - 1];
    };
    for (int64_t i = 0; i < sizes.layers; ++i) {
      x = layer(x, width);
      x = max(x, x * 0.2);
    }
    return layer(x, 1);
  };
  const Tensor real = judged(g.input("images", f32({sizes.batch, sizes.length}))), made = judged(fake);
  const Tensor judging = reduceMean(softplus(-real)) + reduceMean(softplus(made));
  const Tensor making = reduceMean(softplus(-made));
  const auto judgeSlopes = gradients(judging, judges.trained()),
             makeSlopes = gradients(making, makes.trained());
  adam(judges.trained(), judgeSlopes, {.rate = 1e-4});
  adam(makes.trained(), makeSlopes, {.rate = 1e-4});
  g.fetch("judging", judging);
  g.fetch("making", making);
  return std::move(g).finish();
}

Result<Graph> distillationFamily(const FamilySizes& sizes) {
  FamilyModel model("distillation");
  const Tensor rows = model.g.input("rows", f32({sizes.batch, sizes.length}));
  const auto net = [&](const std::string& name, int64_t width, bool frozen) {
    Tensor x = rows;
    for (int64_t i = 0; i <= sizes.layers; ++i) {
      const std::string layer = name + nameOfLayer(i);
      const int64_t to = i < sizes.layers ? width : 1000;
      x = frozen ? matmul(x, model.frozen(layer, {x.shape()[1], to})) : model.linear(layer, x, to);
      x = i < sizes.layers ? gelu(x) : x;
    }
    return x;
  };
  const Tensor wanted = softmax(net("teacher.", 2 * sizes.width, true) * 0.25);
  const Tensor logits = net("student.", sizes.width, false);
  const Tensor soft = -reduceMean(reduceSum(wanted * logSoftmax(logits * 0.25), {1}));
  return std::move(model).minimise(soft * 16 + model.classLoss("labels", logits), Update::Adam);
}

Result<Graph> runningSumsFamily(const FamilySizes& sizes) {
  FamilyModel model("running sums");
  const Tensor windows = model.g.input("tokens", i64({sizes.batch, sizes.length + 1}));
  const Tensor table = model.weight("embedding.weight", {32000, sizes.width});
  Tensor x = embedding(table, slice(windows, {0, 0}, {sizes.batch, sizes.length}));
  for (int64_t i = 0; i < sizes.layers; ++i) {
    const std::string name = nameOfLayer(i);
    const Tensor y = model.layerNormOf(name + ".norm", x);
    const Tensor values = model.linear(name + ".values", y, 2 * sizes.width);
    const Tensor weights = exp(clip(model.linear(name + ".weights", y, 2 * sizes.width), -8, 8));
    const Tensor mixed = cumSum(weights * values, 1) / (cumSum(weights, 1) + 1e-6);
    const Tensor gates = silu(model.linear(name + ".gates", y, 2 * sizes.width));
    x = x + model.linear(name + ".out", mixed * gates, sizes.width);
  }
  const Tensor logits =
      model.product("head", reshape(model.layerNormOf("norm", x), {-1, sizes.width}), 32000);
  const Tensor next = reshape(slice(windows, {0, 1}, {sizes.batch, sizes.length + 1}), {-1});
  return std::move(model).minimise(softmaxCrossEntropy(logits, next), Update::Adam);
}

Result<Graph> groupNormFamily(const FamilySizes& sizes) {
  FamilyModel model("group norm");
  const auto norm = [&](const std::string& name, const Tensor& x) {
    const Shape& shape = x.shape();
    const int64_t groups = shape[1] / 8, apart = shape[0] * groups;
    const Tensor rows = reshape(x, {apart, -1});
    const Tensor centred = rows - reduceMean(rows, {1}, true);
    const Tensor even = centred * rsqrt(reduceMean(centred * centred, {1}, true) + 1e-5);
    const Tensor scale = reshape(model.vector(name + ".weight", shape[1], 1), {shape[1], 1, 1});
    const Tensor shift = reshape(model.vector(name + ".bias", shape[1], 0), {shape[1], 1, 1});
    return reshape(even, {shape[0], shape[1], shape[2], shape[3]}) * scale + shift;
  };
  Tensor x = model.g.input("images", f32({sizes.batch, 3, sizes.length, sizes.length}));
  x = relu(norm("stem.norm", model.convolution("stem", x, sizes.width, 7, 4)));
  for (int64_t i = 0; i < sizes.layers; ++i) {
    const std::string name = nameOfLayer(i);
    const int64_t to = x.shape()[1] * (i > 0 ? 2 : 1), stride = i > 0 ? 2 : 1;
    const Tensor y = relu(norm(name + ".norm1", model.convolution(name + ".conv1", x, to, 3, stride)));
    const Tensor z = norm(name + ".norm2", model.convolution(name + ".conv2", y, to, 3));
    x = relu(z + (i > 0 ? model.convolution(name + ".skip", x, to, 1, stride) : x));
  }
  const Tensor logits = model.linear("head", reduceMean(x, {2, 3}), 1000);
  return std::move(model).minimise(model.classLoss("labels", logits), Update::Momentum);
}

} // namespace dfc::bench
