#include "tools/bench/graphs/lessons.h"

#include "ir/graph/graph.h"

#include <random>

namespace dfc::bench {
namespace {

/// Integers from 0 to below `bound`.
Literal randomIntegers(const TensorType& type, int64_t bound, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int64_t> draw(0, bound - 1);
  Literal all(type);
  if (type.element == ElementType::U8) {
    for (uint8_t& one : all.mutableData<uint8_t>()) {
      one = static_cast<uint8_t>(draw(random));
    }
  } else {
    for (int64_t& one : all.mutableData<int64_t>()) {
      one = draw(random);
    }
  }
  return all;
}

NamedLiterals windows(const gpt::Sizes& sizes, int64_t batch, int64_t length) {
  return {{"tokens", randomIntegers(i64({batch, length}), sizes.vocabulary, 1)}};
}

NamedLiterals images(const resnet::Sizes& sizes, int64_t batch) {
  const TensorType pixels{ElementType::U8, {batch, sizes.channels, sizes.image, sizes.image}};
  return {{"images", randomIntegers(pixels, 256, 1)},
          {"labels", randomIntegers(i64({batch}), sizes.classes, 2)}};
}

} // namespace

FedGraph gptStep(const gpt::Sizes& sizes, int64_t batch) {
  gpt::Training training{.batch = batch, .rate = 6e-4, .beta2 = 0.95}; // the lesson's, of the size 124M
  return {gpt::trainingStep(sizes, training), windows(sizes, batch, sizes.context + 1)};
}

FedGraph gptForward(const gpt::Sizes& sizes, int64_t batch) {
  return {gpt::forwardPass(sizes, batch), windows(sizes, batch, sizes.context)};
}

FedGraph gptDecode(const gpt::Sizes& sizes) {
  return {gpt::decodingStep(sizes, {.tokens = sizes.vocabulary}), {}};
}

Status setQuantized(Session& session, const gpt::Sizes& sizes) {
  if (!sizes.quantized) {
    return success();
  }
  std::mt19937 random(1);
  std::normal_distribution<float> draw(0, 0.02F);
  const NamedLiterals first = session.state();
  NamedLiterals state;
  for (const auto& [name, scales] : first) {
    constexpr std::string_view suffix = ".scales";
    if (!name.ends_with(suffix)) {
      continue;
    }
    const std::string base = name.substr(0, name.size() - suffix.size());
    const int64_t rows = scales.type().shape[0];
    const int64_t inner = first.at(base + ".q").type().shape[1] * 8 / sizes.quantized->bits;
    Literal matrix(f32({rows, inner}));
    for (float& value : matrix.mutableData<float>()) {
      value = draw(random);
    }
    auto made = quantize(matrix, *sizes.quantized);
    if (!made) {
      return made.errors();
    }
    state[base + ".q"] = std::move(made->weights);
    state[name] = std::move(made->scales);
  }
  return session.setState(state);
}

FedGraph resnetStep(const resnet::Sizes& sizes, int64_t batch) {
  resnet::Training training{.batch = batch,
                            .rate = 1e-3}; // one batch again and again has no noise to average
  return {resnet::trainingStep(sizes, training), images(sizes, batch)};
}

FedGraph resnetForward(const resnet::Sizes& sizes, int64_t batch) {
  return {resnet::evaluation(sizes, batch), images(sizes, batch)};
}

} // namespace dfc::bench
