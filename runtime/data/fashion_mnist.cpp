#include "runtime/data/fashion_mnist.h"

#include "runtime/files/idx.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <vector>

namespace dfc {
namespace {

constexpr int64_t side = 28;
constexpr int64_t pixels = side * side;
constexpr int64_t classes = 10;

Diagnostic bad(const std::string& place, std::string message) {
  return {Severity::Error,
          {place},
          std::move(message),
          "install the data set again: sudo apt-get install --reinstall dataset-fashion-mnist"};
}

Literal scaled(const Literal& bytes) {
  Literal images(f32({bytes.type().shape[0], pixels}));
  const auto from = bytes.data<uint8_t>();
  const auto to = images.mutableData<float>();
  std::transform(from.begin(), from.end(), to.begin(), [](uint8_t pixel) { return float(pixel) / 255.0F; });
  return images;
}

Literal widened(const Literal& bytes) {
  Literal labels(i64({bytes.type().shape[0]}));
  const auto from = bytes.data<uint8_t>();
  std::copy(from.begin(), from.end(), labels.mutableData<int64_t>().begin());
  return labels;
}

Result<Literal> readImages(const std::string& file, int64_t count) {
  const auto images = readIdx(file);
  if (!images) {
    return images.errors();
  }
  if (images->type().shape != Shape{count, side, side}) {
    return bad(file, fmt::format("holds {}, not the {} images of 28 x 28 pixels that belong here",
                                 toString(images->type()), count));
  }
  return images;
}

Result<Literal> readLabels(const std::string& file, int64_t count) {
  const auto labels = readIdx(file);
  if (!labels) {
    return labels.errors();
  }
  if (labels->type().shape != Shape{count}) {
    return bad(file, fmt::format("holds {}, not {} labels", toString(labels->type()), count));
  }
  const auto values = labels->data<uint8_t>();
  if (std::any_of(values.begin(), values.end(), [](uint8_t label) { return label >= classes; })) {
    return bad(file, "has a label above 9");
  }
  return labels;
}

} // namespace

Result<Literal> readFashionMnistBytes(std::string_view part, const std::string& folder) {
  if (!std::filesystem::is_directory(folder)) {
    return Diagnostic{Severity::Error,
                      {folder},
                      "the Fashion-MNIST images are not installed here",
                      "install the Debian package: sudo apt-get install dataset-fashion-mnist"};
  }
  if (std::find(fashionMnistParts.begin(), fashionMnistParts.end(), part) == fashionMnistParts.end()) {
    throw std::invalid_argument(
        fmt::format("Fashion-MNIST has no part '{}': it has {}", part, fmt::join(fashionMnistParts, ", ")));
  }
  const bool train = part.starts_with("train");
  const std::string stem = folder + (train ? "/train" : "/t10k");
  const int64_t count = train ? 60000 : 10000;
  return part.ends_with("images") ? readImages(stem + "-images-idx3-ubyte.gz", count)
                                  : readLabels(stem + "-labels-idx1-ubyte.gz", count);
}

Result<Literal> readFashionMnistPart(std::string_view part, const std::string& folder) {
  const auto bytes = readFashionMnistBytes(part, folder);
  if (!bytes) {
    return bytes.errors();
  }
  return part.ends_with("images") ? scaled(*bytes) : widened(*bytes);
}

Result<FashionMnist> readFashionMnist(const std::string& folder) {
  std::vector<Literal> parts;
  Diagnostics errors;
  for (const char* part : fashionMnistParts) {
    auto read = readFashionMnistPart(part, folder);
    if (read) {
      parts.push_back(*std::move(read));
    } else if (errors.empty() ||
               errors.back().where != read.errors()[0].where) { // a missing folder is said once
      errors.insert(errors.end(), read.errors().begin(), read.errors().end());
    }
  }
  if (!errors.empty()) {
    return errors;
  }
  return FashionMnist{{{"images", parts[0]}, {"labels", parts[1]}},
                      {{"images", parts[2]}, {"labels", parts[3]}}};
}

} // namespace dfc
