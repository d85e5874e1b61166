// Each layer is said to be written where it is called.
#include "ir/author/layers.h"

#include <fmt/format.h>

#include <cmath>

namespace dfc {
namespace {

std::string join(std::string_view name, std::string_view part) { return fmt::format("{}.{}", name, part); }

} // namespace

bool Layers::fits(std::string_view what, std::string_view name, Tensor x, size_t least, size_t most,
                  std::source_location where) {
  if (x.builder() == nullptr || !x.valid()) {
    return false;
  }
  const size_t rank = x.shape().rank();
  if (rank >= least && rank <= most && isFloat(x.type().element)) {
    return true;
  }
  g_->report(where, fmt::format("{} '{}' of {}", what, name, toString(x.type())),
             least == most ? fmt::format("give a float tensor of {} axes", least)
                           : fmt::format("give a float tensor of {} axes or more", least));
  return false;
}

Tensor Layers::parameter(std::string_view name, const Shape& shape, const Initialiser& start,
                         std::source_location where) {
  trained_.push_back(g_->parameter(name, {element_, shape}, start, where));
  return trained_.back();
}

Tensor Layers::linear(std::string_view name, Tensor x, int64_t to, const LinearOptions& options,
                      std::source_location where) {
  if (!fits("linear layer", name, x, 1, Shape::maxRank, where)) {
    return {g_, {}};
  }
  const auto place = g_->at(g_->locate(where));
  const int64_t from = x.shape()[x.shape().rank() - 1];
  const Shape shape = options.outFirst ? Shape{to, from} : Shape{from, to};
  const Tensor weight = parameter(join(name, "weight"), shape, options.start.value_or(glorot(nextSeed())));
  const bool row = x.shape().rank() == 1;
  Tensor result = matmul(row ? reshape(x, {1, from}) : x, weight, {.b = options.outFirst});
  result = row ? reshape(result, {to}) : result;
  return options.bias ? result + parameter(join(name, "bias"), {to}, zeros()) : result;
}

Tensor Layers::batchNorm(std::string_view name, Tensor x, double kept, double epsilon,
                         std::source_location where) {
  if (!fits("batch norm", name, x, 2, Shape::maxRank, where)) {
    return {g_, {}};
  }
  const auto place = g_->at(g_->locate(where));
  const Shape channels{x.shape()[1]};
  const Tensor scale = parameter(join(name, "weight"), channels, constantInit(1));
  const Tensor bias = parameter(join(name, "bias"), channels, zeros());
  const Tensor mean = g_->parameter(join(name, "running_mean"), {element_, channels});
  const Tensor variance = g_->parameter(join(name, "running_var"), {element_, channels}, constantInit(1));
  if (phase_ == Phase::Evaluation) {
    return dfc::batchNorm(x, scale, bias, mean, variance, 1, epsilon);
  }
  const Normalised batch = batchNormTraining(x, scale, bias, 1, epsilon);
  const auto n = static_cast<double>(x.shape().elements() / x.shape()[1]); // elements of a channel
  g_->assign(mean, mean * kept + batch.mean * (1 - kept));
  const Tensor unbiased = batch.variance * (n / (n - 1)); // of the distribution, not of the batch
  g_->assign(variance, variance * kept + unbiased * (1 - kept));
  return batch.result;
}

Tensor Layers::layerNorm(std::string_view name, Tensor x, double epsilon, std::source_location where) {
  if (!fits("layer norm", name, x, 1, Shape::maxRank, where)) {
    return {g_, {}};
  }
  const auto place = g_->at(g_->locate(where));
  const Shape width{x.shape()[x.shape().rank() - 1]};
  const Tensor scale = parameter(join(name, "weight"), width, constantInit(1));
  return dfc::layerNorm(x, scale, parameter(join(name, "bias"), width, zeros()), -1, epsilon);
}

Tensor Layers::groupNorm(std::string_view name, Tensor x, int64_t groups, double epsilon,
                         std::source_location where) {
  if (!fits("group norm", name, x, 2, Shape::maxRank, where)) {
    return {g_, {}};
  }
  const auto place = g_->at(g_->locate(where));
  const Shape channels{x.shape()[1]};
  const Tensor scale = parameter(join(name, "weight"), channels, constantInit(1));
  return dfc::groupNorm(x, scale, parameter(join(name, "bias"), channels, zeros()), groups, epsilon);
}

Tensor Layers::rmsNorm(std::string_view name, Tensor x, double epsilon, std::source_location where) {
  if (!fits("RMS norm", name, x, 1, Shape::maxRank, where)) {
    return {g_, {}};
  }
  const auto place = g_->at(g_->locate(where));
  const Shape width{x.shape()[x.shape().rank() - 1]};
  return dfc::rmsNorm(x, parameter(join(name, "weight"), width, constantInit(1)), -1, epsilon);
}

Tensor Layers::embedding(std::string_view name, Tensor ids, int64_t entries, int64_t width,
                         std::source_location where) {
  const auto place = g_->at(g_->locate(where));
  return dfc::embedding(parameter(join(name, "weight"), {entries, width}, normal(0, 0.02, nextSeed())), ids);
}

Tensor Layers::attention(std::string_view name, Tensor x, int64_t heads, const SelfAttentionOptions& options,
                         std::source_location where) {
  if (!fits("attention", name, x, 3, 3, where)) {
    return {g_, {}};
  }
  const int64_t width = x.shape()[2], keyHeads = options.keyHeads.value_or(heads);
  if (heads < 1 || width % heads != 0 || keyHeads < 1 || heads % keyHeads != 0) {
    g_->report(
        where,
        fmt::format("attention '{}' of width {} with {} heads, {} of keys", name, width, heads, keyHeads),
        "heads divide the width, and heads of keys divide the heads");
    return {g_, {}};
  }
  const auto place = g_->at(g_->locate(where));
  const int64_t headWidth = width / heads, batch = x.shape()[0], length = x.shape()[1];
  const Tensor memory = options.memory.builder() == nullptr ? x : options.memory;
  if (!fits("the memory of attention", name, memory, 3, 3, where)) {
    return {g_, {}};
  }
  const auto projected = [&](std::string_view part, Tensor from, int64_t count) {
    const LinearOptions linearOptions{.bias = options.bias, .start = options.start};
    const Tensor all = linear(join(name, part), from, count * headWidth, linearOptions, where);
    return transpose(reshape(all, {batch, from.shape()[1], count, headWidth}), {0, 2, 1, 3});
  };
  const Tensor q = projected("q", x, heads), k = projected("k", memory, keyHeads),
               v = projected("v", memory, keyHeads);
  const Tensor seen = dfc::attention(q, k, v, {.causal = options.causal, .mask = options.mask});
  return linear(join(name, "out"), reshape(transpose(seen, {0, 2, 1, 3}), {batch, length, width}), width,
                {.bias = options.bias, .start = options.start}, where);
}

// The product of all positions with the input's weights at once, and what the hidden state is multiplied by.
Layers::Gates Layers::gates(std::string_view name, Tensor x, int64_t count, int64_t width) {
  const int64_t in = x.shape()[2];
  const double bound = 1 / std::sqrt(static_cast<double>(width));
  const auto part = [&](std::string_view what, const Shape& shape) {
    return parameter(join(name, what), shape, uniform(-bound, bound, nextSeed()));
  };
  const Tensor input = part("weight_ih", {count * width, in}),
               hidden = part("weight_hh", {count * width, width});
  const Tensor inputBias = part("bias_ih", {count * width}), hiddenBias = part("bias_hh", {count * width});
  return {matmul(x, input, {.b = true}) + inputBias, hidden, hiddenBias};
}

Recurrent Layers::lstm(std::string_view name, Tensor x, int64_t width, std::source_location where) {
  if (!fits("LSTM", name, x, 3, 3, where)) {
    return {{g_, {}}, {g_, {}}};
  }
  const auto place = g_->at(g_->locate(where));
  const int64_t batch = x.shape()[0], length = x.shape()[1];
  const Gates made = gates(name, x, 4, width);
  Tensor hidden, cell;
  std::vector<Tensor> all;
  for (int64_t t = 0; t < length; ++t) {
    Tensor sum = reshape(slice(made.fromInput, {0, t, 0}, {batch, t + 1, 4 * width}), {batch, 4 * width}) +
                 made.hiddenBias;
    if (t > 0) { // both begin at 0
      sum = sum + matmul(hidden, made.toHidden, {.b = true});
    }
    const std::vector<Tensor> gate = split(sum, {width, width, width, width}, 1);
    const Tensor fresh = sigmoid(gate[0]) * tanh(gate[2]);
    cell = t > 0 ? sigmoid(gate[1]) * cell + fresh : fresh;
    hidden = sigmoid(gate[3]) * tanh(cell);
    all.push_back(reshape(hidden, {batch, 1, width}));
  }
  return {concat(all, 1, where), hidden};
}

Recurrent Layers::gru(std::string_view name, Tensor x, int64_t width, std::source_location where) {
  if (!fits("GRU", name, x, 3, 3, where)) {
    return {{g_, {}}, {g_, {}}};
  }
  const auto place = g_->at(g_->locate(where));
  const int64_t batch = x.shape()[0], length = x.shape()[1];
  const Gates made = gates(name, x, 3, width);
  Tensor hidden = broadcast(g_->scalar(x.type().element, 0), {batch, width});
  std::vector<Tensor> all;
  for (int64_t t = 0; t < length; ++t) {
    const Tensor given =
        reshape(slice(made.fromInput, {0, t, 0}, {batch, t + 1, 3 * width}), {batch, 3 * width});
    const Tensor held = matmul(hidden, made.toHidden, {.b = true}) + made.hiddenBias;
    const std::vector<Tensor> i = split(given, {width, width, width}, 1),
                              h = split(held, {width, width, width}, 1);
    const Tensor reset = sigmoid(i[0] + h[0]), update = sigmoid(i[1] + h[1]);
    const Tensor fresh = tanh(i[2] + reset * h[2]);
    hidden = fresh + update * (hidden - fresh);
    all.push_back(reshape(hidden, {batch, 1, width}));
  }
  return {concat(all, 1, where), hidden};
}

Tensor Layers::dropout(Tensor x, double rate, std::source_location where) {
  if (phase_ == Phase::Evaluation || rate == 0) {
    return x;
  }
  const auto place = g_->at(g_->locate(where));
  return dfc::dropout(x, g_->step(where), rate, seed_ * 1000 + drops_++);
}

} // namespace dfc
