#include "runtime/cpu/kernels/windows/strip_plan.h"

#include <algorithm>
#include <limits>

namespace dfc {
namespace {

// The cut minimises the estimated time on hosts of few and of many threads alike, with these rates of one
// thread; on other hosts it is right, but less balanced.
constexpr int64_t leastThreads = 2, mostThreads = 16;
constexpr double flopsOfProducts = 100, flopsOfChannels = 50; // a nanosecond; with one channel a group
constexpr double nearBytes = 30, farBytes = 8; // moved in a nanosecond, in the L2 cache and not
constexpr double cacheBytes = 768 << 10;
constexpr double stripNanoseconds = 1500;  // to start a part
constexpr double worthNanoseconds = 12000; // the least work of a part
constexpr int64_t mostStrips = 4 * mostThreads;
// A strip of some filters is strided in the result: it is copied, or its epilogue computed, pixel by pixel.
constexpr int64_t filterMultiple = 64;
constexpr double pixelNanoseconds = 30;

int64_t divided(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// The price of parts of a convolution.
class StripPrice {
 public:
  explicit StripPrice(const Convolution& conv) : conv_(conv) {}

  double of(int64_t images, int64_t rows, int64_t filters) const {
    const WindowAxis& down = conv_.windows.rows;
    const double pixels = static_cast<double>(images * rows * conv_.windows.columns.count);
    const double terms = static_cast<double>(conv_.terms()), made = pixels * static_cast<double>(filters);
    const int64_t read =
        std::min(down.length, (rows - 1) * down.stride + (down.size - 1) * down.dilation + 1);
    const double bytes = 4 * (static_cast<double>(images * read * conv_.image[3] * conv_.image[1]) +
                              terms * static_cast<double>(filters) + made);
    const double copied = filters < conv_.filter[0] ? pixels * pixelNanoseconds : 0;
    return 2 * made * terms / (conv_.filter[1] == 1 ? flopsOfChannels : flopsOfProducts) +
           bytes / (bytes <= cacheBytes ? nearBytes : farBytes) + copied + stripNanoseconds;
  }

 private:
  const Convolution& conv_;
};

} // namespace

StripPlan::StripPlan(const Convolution& conv)
    : images_(conv.batch()), rows_(conv.windows.rows.count), filters_(conv.filter[0]), imagesEach_(images_),
      rowsEach_(rows_), filtersEach_(filters_) {
  const StripPrice price(conv);
  cost_ = price.of(images_, rows_, filters_);
  const auto most = static_cast<int64_t>(std::clamp(
      cost_ / worthNanoseconds, 1.0, static_cast<double>(mostStrips) * std::max(1.0, cost_ / 1e7)));
  double least = std::numeric_limits<double>::infinity();
  const auto consider = [&](int64_t images, int64_t rows, int64_t filters) {
    const int64_t strips = divided(images_, images) * divided(rows_, rows) * divided(filters_, filters);
    const double one = price.of(images, rows, filters);
    double time = 0;
    for (const int64_t threads : {leastThreads, mostThreads}) {
      time += static_cast<double>(divided(strips, threads) * threads) * one;
    }
    if (time < least && strips <= std::max<int64_t>(most, 1)) {
      least = time;
      imagesEach_ = images;
      rowsEach_ = rows;
      filtersEach_ = filters;
    }
  };
  const int64_t filterBlocks = conv.groups > 1 ? 1 : std::max<int64_t>(1, filters_ / filterMultiple);
  for (int64_t blocks = 1; blocks <= filterBlocks; blocks *= 2) {
    const int64_t filters =
        blocks == 1 ? filters_ : divided(divided(filters_, blocks), filterMultiple) * filterMultiple;
    for (int64_t parts = 1; parts <= images_; ++parts) {
      consider(divided(images_, parts), rows_, filters);
    }
    for (int64_t parts = 2; parts <= rows_; ++parts) {
      consider(1, divided(rows_, parts), filters);
    }
  }
  imageParts_ = divided(images_, imagesEach_);
  rowParts_ = divided(rows_, rowsEach_);
  filterParts_ = divided(filters_, filtersEach_);
}

Strip StripPlan::strip(int64_t index) const {
  Strip strip;
  strip.filter = index % filterParts_ * filtersEach_;
  strip.filters = std::min(filtersEach_, filters_ - strip.filter);
  strip.row = index / filterParts_ % rowParts_ * rowsEach_;
  strip.rows = std::min(rowsEach_, rows_ - strip.row);
  strip.image = index / filterParts_ / rowParts_ * imagesEach_;
  strip.images = std::min(imagesEach_, images_ - strip.image);
  return strip;
}

} // namespace dfc
