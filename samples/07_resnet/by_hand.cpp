// See by_hand.h.
#include "samples/07_resnet/by_hand.h"

#include <vector>

namespace dfc::resnet {
namespace {

/// The first channel of a convolution of bytes.
class Convolution {
 public:
  /// images: u8[batch, channels, size, size]. filter: f32[…, channels, rows, rows].
  Convolution(const Literal& images, const Literal& filter, int64_t stride)
      : pixels_(images.data<uint8_t>()), weights_(filter.data<float>()), channels_(images.type().shape[1]),
        size_(images.type().shape[2]), rows_(filter.type().shape[2]), stride_(stride) {}

  /// The element at (row, column) of an image's result.
  double at(int64_t image, int64_t row, int64_t column) const {
    double sum = 0;
    for (int64_t c = 0; c < channels_; ++c) {
      for (int64_t i = 0; i < rows_; ++i) {
        for (int64_t j = 0; j < rows_; ++j) {
          sum +=
              static_cast<double>(weights_[static_cast<size_t>((c * rows_ + i) * rows_ + j)]) *
              pixel(image * channels_ + c, row * stride_ + i - rows_ / 2, column * stride_ + j - rows_ / 2);
        }
      }
    }
    return sum;
  }

 private:
  /// Normalised as the model does it; 0 in the padding.
  double pixel(int64_t plane, int64_t row, int64_t column) const {
    const bool inside = row >= 0 && row < size_ && column >= 0 && column < size_;
    return inside ? (pixels_[static_cast<size_t>((plane * size_ + row) * size_ + column)] - 72.9) / 90 : 0;
  }

  std::span<const uint8_t> pixels_;
  std::span<const float> weights_;
  int64_t channels_, size_, rows_, stride_;
};

std::vector<double> firstChannel(const Sizes& sizes, const Literal& images, const Literal& filter) {
  const int64_t stride = sizes.smallStem() ? 1 : 2, rows = (sizes.image + stride - 1) / stride;
  const Convolution convolution(images, filter, stride);
  std::vector<double> all;
  for (int64_t image = 0; image < images.type().shape[0]; ++image) {
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t column = 0; column < rows; ++column) {
        all.push_back(convolution.at(image, row, column));
      }
    }
  }
  return all;
}

} // namespace

Statistics firstStatistics(const Sizes& sizes, const NamedLiterals& feeds, const Literal& filter) {
  const std::vector<double> all = firstChannel(sizes, feeds.at("images"), filter);
  const auto n = static_cast<double>(all.size());
  double mean = 0, squares = 0;
  for (const double x : all) {
    mean += x / n;
  }
  for (const double x : all) {
    squares += (x - mean) * (x - mean);
  }
  const Statistics start;
  return {keptStatistics * start.mean + (1 - keptStatistics) * mean,
          keptStatistics * start.variance + (1 - keptStatistics) * squares / (n - 1)};
}

} // namespace dfc::resnet
