// See images.h.
#include "samples/07_resnet/images.h"

#include "runtime/data/fashion_mnist.h"
#include "samples/data/lesson.h"

#include <cstring>
#include <random>

namespace dfc::resnet {
namespace {

/// `count` images and labels, all 0.
NamedLiterals blank(const Sizes& sizes, int64_t count) {
  return {{"images", Literal({ElementType::U8, {count, sizes.channels, sizes.image, sizes.image}})},
          {"labels", Literal(i64({count}))}};
}

/// part: "train" or "test".
NamedLiterals fashion(const Sizes& sizes, const std::string& part) {
  const Literal pixels = lesson::orGiveUp(readFashionMnistBytes(part + "/images")); // u8[n, 28, 28]
  const Literal labels = lesson::orGiveUp(readFashionMnistBytes(part + "/labels")); // u8[n]
  NamedLiterals data = blank(sizes, labels.type().shape[0]);
  std::memcpy(data.at("images").mutableBytes().data(), pixels.bytes().data(), pixels.bytes().size());
  const auto from = labels.data<uint8_t>();
  std::copy(from.begin(), from.end(), data.at("labels").mutableData<int64_t>().begin());
  return data;
}

NamedLiterals random(const Sizes& sizes, int64_t count, int64_t seed) {
  NamedLiterals data = blank(sizes, count);
  std::mt19937 draw(static_cast<uint32_t>(seed));
  for (uint8_t& pixel : data.at("images").mutableData<uint8_t>()) {
    pixel = static_cast<uint8_t>(draw() % 256);
  }
  for (int64_t& label : data.at("labels").mutableData<int64_t>()) {
    label = static_cast<int64_t>(draw()) % sizes.classes;
  }
  return data;
}

} // namespace

Batches trainingImages(const Options& options) {
  const int64_t batch = options.training.batch, seed = options.training.seed;
  return lesson::orGiveUp(Batches::of(options.fashion() ? fashion(options.sizes, "train")
                                                        : random(options.sizes, 2 * batch, seed),
                                      batch, static_cast<uint64_t>(seed)));
}

Batches testImages(const Options& options) {
  const int64_t batch = options.training.batch;
  return lesson::orGiveUp(Batches::of(options.fashion()
                                          ? fashion(options.sizes, "test")
                                          : random(options.sizes, batch, options.training.seed + 1),
                                      batch));
}

} // namespace dfc::resnet
