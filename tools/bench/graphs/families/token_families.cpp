// See token_families.h.
#include "tools/bench/graphs/families/token_families.h"

#include "ir/author/composites.h"

#include <algorithm>
#include <cmath>

namespace dfc::bench {
namespace {

constexpr int64_t experts = 8;

std::string layerName(int64_t i) { return "layers." + std::to_string(i); }

/// A model over windows of tokens; vocabulary 0: without a table that is trained.
struct TokenModel : FamilyModel {
  TokenModel(const std::string& name, const FamilySizes& sizes, int64_t vocabulary)
      : FamilyModel(name), batch(sizes.batch), length(sizes.length),
        windows(g.input("tokens", i64({sizes.batch, sizes.length + 1}))) {
    if (vocabulary > 0) {
      table = weight("embedding.weight", {vocabulary, sizes.width});
    }
  }

  Tensor seen() { return slice(windows, {0, 0}, {batch, length}); }
  Tensor next() { return reshape(slice(windows, {0, 1}, {batch, length + 1}), {-1}); }
  /// [batch * length, width].
  Tensor embedded() { return reshape(embedding(table, seen()), {batch * length, -1}); }

  int64_t batch, length;
  Tensor windows, table;
};

/// The sines and cosines of rotary positions (Su et al. 2021), each [length, width / 2].
struct Rotation {
  Rotation(Builder& g, int64_t length, int64_t width) {
    const Tensor position = iota(g, f32({length, 1}), 0), pair = iota(g, f32({1, width / 2}), 1);
    const Tensor angle = position * exp(pair * (-2 * std::log(10000.0) / static_cast<double>(width)));
    sine = sin(angle);
    cosine = cos(angle);
  }
  /// x: [batch, heads, length, width].
  Tensor of(const Tensor& x) const {
    const int64_t half = x.shape()[3] / 2;
    const std::vector<Tensor> halves = split(x, {half, half}, 3);
    return concat({halves[0] * cosine - halves[1] * sine, halves[1] * cosine + halves[0] * sine}, 3);
  }
  Tensor sine, cosine;
};

Tensor llamaBlock(TokenModel& model, const std::string& name, Tensor x, const Rotation& rotation,
                  int64_t heads, int64_t keyHeads) {
  const int64_t width = x.shape()[1], headWidth = width / heads;
  const auto norm = [&](const std::string& part, const Tensor& of) {
    return rmsNorm(of, model.vector(name + part, width, 1));
  };
  const auto apart = [&](const Tensor& of, int64_t count) {
    return transpose(reshape(of, {model.batch, model.length, count, headWidth}), {0, 2, 1, 3});
  };
  const Tensor a = norm(".attention_norm", x);
  const Tensor q = rotation.of(apart(model.product(name + ".wq", a, width), heads));
  const Tensor k = rotation.of(apart(model.product(name + ".wk", a, keyHeads * headWidth), keyHeads));
  const Tensor v = apart(model.product(name + ".wv", a, keyHeads * headWidth), keyHeads);
  const Tensor seen = reshape(transpose(attention(q, k, v, {.causal = true}), {0, 2, 1, 3}), {-1, width});
  x = x + model.product(name + ".wo", seen, width);
  const Tensor b = norm(".ffn_norm", x);
  const int64_t hidden = (8 * width / 3 + 127) / 128 * 128;
  const Tensor gated = silu(model.product(name + ".w1", b, hidden)) * model.product(name + ".w3", b, hidden);
  return x + model.product(name + ".w2", gated, width);
}

/// The first half of a block: x + attention(norm(x)).
Tensor attended(TokenModel& model, const std::string& name, Tensor x, int64_t heads) {
  const int64_t width = x.shape()[1];
  const Tensor projected = model.linear(name + ".qkv", model.layerNormOf(name + ".norm1", x), 3 * width);
  const std::vector<Tensor> qkv = split(projected, {width, width, width}, 1);
  const Tensor seen = model.selfAttention(qkv[0], qkv[1], qkv[2], model.batch, heads, heads, true);
  return x + model.linear(name + ".proj", seen, width);
}

Tensor feedForward(TokenModel& model, const std::string& name, Tensor x, int64_t hidden) {
  const Tensor inner =
      gelu(model.linear(name + ".fc1", model.layerNormOf(name + ".norm2", x), hidden), Approximation::Tanh);
  return x + model.linear(name + ".fc2", inner, x.shape()[1]);
}

/// The weights of the two likeliest experts of each row, zeros elsewhere: [rows, experts].
Tensor topTwoGates(TokenModel& model, const std::string& name, Tensor x) {
  const Tensor scores = model.product(name + ".gate", x, experts);
  const Tensor least = slice(topK(scores, 2, 1).values, {0, 1}, {scores.shape()[0], 2});
  return softmax(select(compare(scores, least, Direction::Ge), scores, -1e9), 1);
}

Tensor denseExperts(TokenModel& model, const std::string& name, Tensor x) {
  const int64_t width = x.shape()[1], hidden = 2 * width;
  const Tensor normed = model.layerNormOf(name + ".norm2", x);
  const std::vector<Tensor> gates =
      split(topTwoGates(model, name, normed), std::vector<int64_t>(experts, 1), 1);
  for (int64_t e = 0; e < experts; ++e) {
    const std::string expert = name + ".expert" + std::to_string(e);
    const Tensor inner = relu(model.product(expert + ".w1", normed, hidden));
    x = x + model.product(expert + ".w2", inner, width) * gates[static_cast<size_t>(e)];
  }
  return x;
}

/// Where tokens go, each [windows, length, experts * capacity]: as zeros and ones, and weighed.
struct Dispatch {
  Tensor mask, weighed, balance;
};

Dispatch dispatchOf(TokenModel& model, const std::string& name, Tensor normed, int64_t capacity) {
  const int64_t windows = model.batch, length = model.length;
  const Tensor gates = softmax(model.product(name + ".gate", normed, experts), 1);
  const Tensor chosen = oneHot(argMax(gates, 1), experts);
  const Tensor weight = reduceSum(gates * chosen, {1}, true);
  const Tensor perWindow = reshape(chosen, {windows, length, experts});
  const Tensor before = cumSum(perWindow, 1, {.exclusive = true});
  const Tensor place = cast(reduceSum(before * perWindow, {2}), ElementType::I64);
  const Tensor slot = oneHot(place, capacity); // zeros beyond the capacity
  const Tensor mask =
      reshape(perWindow, {windows, length, experts, 1}) * reshape(slot, {windows, length, 1, capacity});
  const Tensor flat = reshape(mask, {windows, length, experts * capacity});
  const Tensor balance = reduceSum(reduceMean(gates, {0}) * reduceMean(chosen, {0}));
  return {flat, flat * reshape(weight, {windows, length, 1}), balance};
}

Tensor dispatchedExperts(TokenModel& model, const std::string& name, Tensor x, Tensor& balance) {
  const int64_t width = x.shape()[1], hidden = 4 * width, windows = model.batch, length = model.length;
  const int64_t capacity = (5 * length / 4 + experts - 1) / experts;
  const Tensor normed = model.layerNormOf(name + ".norm2", x);
  const Dispatch dispatch = dispatchOf(model, name, normed, capacity);
  balance = balance.builder() == nullptr ? dispatch.balance : balance + dispatch.balance;
  const Tensor sent = matmul(dispatch.mask, reshape(normed, {windows, length, width}), {.a = true});
  const Tensor ofExpert = reshape(transpose(reshape(sent, {windows, experts, capacity, width}), {1, 0, 2, 3}),
                                  {experts, -1, width});
  const Tensor inner = relu(matmul(ofExpert, model.weight(name + ".w1", {experts, width, hidden})));
  const Tensor made = matmul(inner, model.weight(name + ".w2", {experts, hidden, width}));
  const Tensor back = reshape(transpose(reshape(made, {experts, windows, capacity, width}), {1, 0, 2, 3}),
                              {windows, experts * capacity, width});
  return x + reshape(matmul(dispatch.weighed, back), {-1, width});
}

/// A frozen product beside a trained one through `rank` columns.
Tensor adapted(TokenModel& model, const std::string& name, Tensor x, int64_t to) {
  const int64_t from = x.shape()[1], rank = 16;
  const Tensor whole =
      matmul(x, model.frozen(name + ".weight", {from, to})) + model.frozen(name + ".bias", {to});
  return whole + model.product(name + ".up", model.product(name + ".down", x, rank), to) * 2;
}

Tensor frozenNorm(TokenModel& model, const std::string& name, Tensor x) {
  const int64_t width = x.shape()[1];
  return layerNorm(x, model.frozen(name + ".weight", {width}), model.frozen(name + ".bias", {width}));
}

struct Cell {
  Tensor hidden, memory;
};

/// One step of a layer: x and the state [batch, width].
Cell lstmStep(const Tensor& x, const Cell& before, const Tensor& w, const Tensor& bias) {
  const int64_t width = before.hidden.shape()[1];
  const std::vector<Tensor> gates =
      split(matmul(concat({x, before.hidden}, 1), w) + bias, {width, width, width, width}, 1);
  const Tensor memory = sigmoid(gates[1] + 1) * before.memory + sigmoid(gates[0]) * tanh(gates[2]);
  return {sigmoid(gates[3]) * tanh(memory), memory};
}

} // namespace

Result<Graph> llamaFamily(const FamilySizes& sizes) {
  TokenModel model("llama", sizes, 32000);
  const int64_t heads = std::max<int64_t>(2, sizes.width / 64), keyHeads = std::max<int64_t>(1, heads / 4);
  const Rotation rotation(model.g, sizes.length, sizes.width / heads);
  Tensor x = model.embedded();
  for (int64_t i = 0; i < sizes.layers; ++i) {
    x = llamaBlock(model, layerName(i), x, rotation, heads, keyHeads);
  }
  x = rmsNorm(x, model.vector("norm", sizes.width, 1));
  const Tensor loss = softmaxCrossEntropy(model.product("output", x, 32000), model.next());
  return std::move(model).minimise(loss, Update::Adam);
}

Result<Graph> denseExpertsFamily(const FamilySizes& sizes) {
  TokenModel model("mixture of dense experts", sizes, 16384);
  Tensor x = model.embedded();
  for (int64_t i = 0; i < sizes.layers; ++i) {
    x = attended(model, layerName(i), x, sizes.width / 64);
    x = denseExperts(model, layerName(i), x);
  }
  x = model.layerNormOf("norm", x);
  const Tensor loss = softmaxCrossEntropy(matmul(x, model.table, {.b = true}), model.next());
  return std::move(model).minimise(loss, Update::Adam);
}

Result<Graph> dispatchedExpertsFamily(const FamilySizes& sizes) {
  TokenModel model("mixture of experts", sizes, 16384);
  Tensor x = model.embedded(), balance;
  for (int64_t i = 0; i < sizes.layers; ++i) {
    x = attended(model, layerName(i), x, sizes.width / 64);
    x = i % 2 == 0 ? feedForward(model, layerName(i), x, 4 * sizes.width)
                   : dispatchedExperts(model, layerName(i), x, balance);
  }
  x = model.layerNormOf("norm", x);
  const Tensor loss = softmaxCrossEntropy(matmul(x, model.table, {.b = true}), model.next());
  return std::move(model).minimise(balance.builder() == nullptr ? loss : loss + balance * 0.01, Update::Adam);
}

Result<Graph> adaptersFamily(const FamilySizes& sizes) {
  TokenModel model("low-rank adapters", sizes, 0);
  const Tensor table = model.frozen("wte.weight", {32000, sizes.width});
  Tensor x = reshape(embedding(table, model.seen()), {-1, sizes.width});
  for (int64_t i = 0; i < sizes.layers; ++i) {
    const std::string name = layerName(i);
    const int64_t width = sizes.width;
    const Tensor qkv = adapted(model, name + ".qkv", frozenNorm(model, name + ".norm1", x), 3 * width);
    const std::vector<Tensor> parts = split(qkv, {width, width, width}, 1);
    const Tensor seen =
        model.selfAttention(parts[0], parts[1], parts[2], sizes.batch, width / 64, width / 64, true);
    x = x + adapted(model, name + ".proj", seen, width);
    const Tensor inner = gelu(adapted(model, name + ".fc1", frozenNorm(model, name + ".norm2", x), 4 * width),
                              Approximation::Tanh);
    x = x + adapted(model, name + ".fc2", inner, width);
  }
  const Tensor logits = matmul(frozenNorm(model, "norm", x), table, {.b = true});
  const Tensor loss = softmaxCrossEntropy(logits, model.next());
  return std::move(model).minimise(loss, Update::Adam);
}

Result<Graph> oddTransformerFamily(const FamilySizes& sizes) {
  TokenModel model("odd transformer", sizes, 10007);
  Tensor x = model.embedded() + reshape(broadcast(model.weight("positions", {1, sizes.length, sizes.width}),
                                                  {sizes.batch, sizes.length, sizes.width}),
                                        {-1, sizes.width});
  for (int64_t i = 0; i < sizes.layers; ++i) {
    x = attended(model, layerName(i), x, 7);
    x = feedForward(model, layerName(i), x, 3 * sizes.width + 1);
  }
  const Tensor loss =
      softmaxCrossEntropy(model.linear("head", model.layerNormOf("norm", x), 10007), model.next());
  return std::move(model).minimise(loss, Update::Adam);
}

Result<Graph> lstmFamily(const FamilySizes& sizes) {
  TokenModel model("lstm", sizes, 10000);
  std::vector<Tensor> sequence; // [batch, width] a token
  const Tensor embedded = embedding(model.table, model.seen());
  for (const Tensor& one : split(embedded, std::vector<int64_t>(static_cast<size_t>(sizes.length), 1), 1)) {
    sequence.push_back(reshape(one, {sizes.batch, sizes.width}));
  }
  for (int64_t i = 0; i < sizes.layers; ++i) {
    const Tensor w = model.weight(layerName(i) + ".weight", {2 * sizes.width, 4 * sizes.width});
    const Tensor bias = model.vector(layerName(i) + ".bias", 4 * sizes.width, 0);
    const Tensor zero = broadcast(model.g.scalar(ElementType::F32, 0), {sizes.batch, sizes.width});
    Cell state{zero, zero};
    for (Tensor& x : sequence) {
      state = lstmStep(x, state, w, bias);
      x = state.hidden;
    }
  }
  std::vector<Tensor> rows;
  for (const Tensor& x : sequence) {
    rows.push_back(reshape(x, {sizes.batch, 1, sizes.width}));
  }
  const Tensor hidden = reshape(concat(rows, 1), {-1, sizes.width});
  const Tensor loss = softmaxCrossEntropy(model.linear("head", hidden, 10000), model.next());
  return std::move(model).minimise(loss, Update::Adam);
}

Result<Graph> translationFamily(const FamilySizes& sizes) {
  constexpr int64_t vocabulary = 16000;
  TokenModel model("translation", sizes, vocabulary);
  const int64_t batch = sizes.batch, length = sizes.length, width = sizes.width, heads = width / 64;
  const Tensor step = model.g.parameter("step", i64({}));
  model.g.assign(step, step + 1);
  int64_t seed = 0;
  const auto dropped = [&](const Tensor& x) { return dropout(x, step, 0.1, ++seed); };
  const Tensor sources = model.g.input("sources", i64({batch, length}));
  const Tensor mask = reshape(compare(sources, 0, Direction::Ne), {batch, 1, 1, length});
  const auto apart = [&](const Tensor& x) {
    return transpose(reshape(x, {batch, length, heads, 64}), {0, 2, 1, 3});
  };
  const auto attend = [&](const std::string& name, const Tensor& x, const Tensor& over, bool causal) {
    AttentionOptions options{.causal = causal};
    options.mask = causal ? Tensor() : mask;
    const Tensor seen =
        attention(apart(model.linear(name + ".q", x, width)), apart(model.linear(name + ".k", over, width)),
                  apart(model.linear(name + ".v", over, width)), options);
    return dropped(model.linear(name + ".out", reshape(transpose(seen, {0, 2, 1, 3}), {-1, width}), width));
  };
  const auto feed = [&](const std::string& name, const Tensor& x) {
    return dropped(model.linear(name + ".fc2", relu(model.linear(name + ".fc1", x, 4 * width)), width));
  };
  Tensor x = dropped(reshape(embedding(model.table, sources), {-1, width}));
  for (int64_t i = 0; i < sizes.layers; ++i) {
    const std::string name = "encoder." + std::to_string(i);
    const Tensor normed = model.layerNormOf(name + ".norm1", x);
    x = x + attend(name, normed, normed, false);
    x = x + feed(name, model.layerNormOf(name + ".norm2", x));
  }
  const Tensor memory = model.layerNormOf("encoder.norm", x);
  Tensor y = dropped(model.embedded());
  for (int64_t i = 0; i < sizes.layers; ++i) {
    const std::string name = "decoder." + std::to_string(i);
    const Tensor normed = model.layerNormOf(name + ".norm1", y);
    y = y + attend(name + ".self", normed, normed, true);
    y = y + attend(name + ".cross", model.layerNormOf(name + ".norm2", y), memory, false);
    y = y + feed(name, model.layerNormOf(name + ".norm3", y));
  }
  const Tensor logits = matmul(model.layerNormOf("decoder.norm", y), model.table, {.b = true});
  const Tensor next = model.next();
  const Tensor likelihoods = logSoftmax(logits, 1);
  const Tensor present = cast(compare(next, 0, Direction::Ne), ElementType::F32);
  const Tensor ofLabel = reduceSum(likelihoods * oneHot(next, vocabulary), {1});
  const Tensor smoothed = ofLabel * 0.9 + reduceMean(likelihoods, {1}) * 0.1;
  const Tensor loss = -reduceSum(smoothed * present) / max(reduceSum(present), 1);
  model.g.fetch("right", reduceSum(cast(compare(argMax(logits), next, Direction::Eq), ElementType::F32)));
  return std::move(model).minimise(loss, Update::ClippedAdam);
}

} // namespace dfc::bench
