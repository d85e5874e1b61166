#include "runtime/cpu/kernels/windows/convolution_plan.h"

#include <algorithm>
#include <limits>

namespace dfc {
namespace {

// The cut is chosen for hosts of this many threads, few and many, and for these rates of one thread:
// operations a nanosecond, nanoseconds to reorder an element of a filter, and of an image. On other hosts it
// is only less even.
constexpr int64_t fewThreads = 2, manyThreads = 16;
constexpr double flopsPerNanosecond = 100, nanosecondsPerWeight = 0.35, nanosecondsPerPixel = 0.08;
constexpr double partFlops = 4e6; // worth waking a thread for
constexpr int64_t mostParts = 4 * manyThreads;
constexpr int64_t channelMultiple = 16; // a block of oneDNN's layouts
// Kernels compute fewer channels than this, and with filters that leave the cache, at this share of the rate.
constexpr int64_t fewChannels = 32;
constexpr double cachedWeights = 512 * 1024, shareOfRate = 0.7;

int64_t divideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

double elements(const Shape& shape) { return static_cast<double>(shape.elements()); }

} // namespace

ConvolutionPlan::ConvolutionPlan(ConvolutionPass pass, const Convolution& conv) : images_(conv.batch()) {
  const bool toInput = pass == ConvolutionPass::InputGradient;
  const int64_t unit = conv.groups > 1 ? 1 : channelMultiple;
  channels_ = conv.groups > 1 ? conv.groups : toInput ? conv.image[1] : conv.filter[0];
  // Of a part with a share of the images and of the channels. The filter is reordered or, for its gradient,
  // added for each part of the batch; the operand that has all channels is reordered for each part of these.
  // Each group has operands of its own.
  const double weights = elements(conv.filter), made = elements(toInput ? conv.image : conv.result),
               read = elements(toInput ? conv.result : conv.image);
  const auto partTime = [&](double images, double channels, bool narrow) {
    const bool slow = conv.groups == 1 && (narrow || weights * channels > cachedWeights);
    return conv.flops() * images * channels / (flopsPerNanosecond * (slow ? shareOfRate : 1)) +
           weights * channels * nanosecondsPerWeight +
           images * (made * channels + read * (conv.groups > 1 ? channels : 1)) * nanosecondsPerPixel;
  };
  const auto most =
      static_cast<int64_t>(std::clamp(conv.flops() / partFlops, 1.0, static_cast<double>(mostParts)));
  double least = std::numeric_limits<double>::infinity();
  for (int64_t batches = 1; batches <= std::min(images_, most); ++batches) {
    const int64_t imagesEach = divideUp(images_, batches);
    for (int64_t wanted = 1; wanted <= std::min(divideUp(channels_, unit), divideUp(most, batches));
         ++wanted) {
      const int64_t channelsEach = divideUp(divideUp(channels_, wanted), unit) * unit;
      const int64_t parts = divideUp(images_, imagesEach) * divideUp(channels_, channelsEach);
      const double longest =
          partTime(static_cast<double>(imagesEach) / static_cast<double>(images_),
                   std::min(1.0, static_cast<double>(channelsEach) / static_cast<double>(channels_)),
                   channelsEach < fewChannels);
      const auto threadTime = [&](int64_t threads) {
        return static_cast<double>(divideUp(parts, threads) * threads) * longest;
      };
      if (const double time = threadTime(fewThreads) + threadTime(manyThreads); time < least) {
        least = time;
        imagesEach_ = imagesEach;
        channelsEach_ = channelsEach;
      }
    }
  }
  batchParts_ = divideUp(images_, imagesEach_);
  channelParts_ = divideUp(channels_, channelsEach_);
}

ConvolutionPart ConvolutionPlan::part(int64_t index) const {
  ConvolutionPart part;
  part.batch = index / channelParts_ * imagesEach_;
  part.images = std::min(imagesEach_, images_ - part.batch);
  part.first = index % channelParts_ * channelsEach_;
  part.channels = std::min(channelsEach_, channels_ - part.first);
  return part;
}

} // namespace dfc
