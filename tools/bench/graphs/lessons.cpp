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

FedGraph resnetStep(const resnet::Sizes& sizes, int64_t batch) {
  resnet::Training training{.batch = batch,
                            .rate = 1e-3}; // one batch again and again has no noise to average
  return {resnet::trainingStep(sizes, training), images(sizes, batch)};
}

FedGraph resnetForward(const resnet::Sizes& sizes, int64_t batch) {
  return {resnet::evaluation(sizes, batch), images(sizes, batch)};
}

} // namespace dfc::bench
