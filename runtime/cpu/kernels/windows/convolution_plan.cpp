#include "runtime/cpu/kernels/windows/convolution_plan.h"

#include <algorithm>
#include <limits>

namespace dfc {
namespace {

// The cut is chosen for a host of this many threads and rates: operations a nanosecond, and nanoseconds to
// reorder an element into oneDNN's layout. On other hosts it is only less even.
constexpr double threads = 32, flopsPerNanosecond = 50, nanosecondsPerElement = 0.7;
constexpr double partFlops = 4e6;       // worth waking a thread for
constexpr int64_t channelMultiple = 16; // a block of oneDNN's layouts

int64_t divideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

double elements(const Shape& shape) { return static_cast<double>(shape.elements()); }

} // namespace

ConvolutionPlan::ConvolutionPlan(ConvolutionPass pass, const Convolution& conv) : images_(conv.batch()) {
  const bool toInput = pass == ConvolutionPass::InputGradient;
  const int64_t unit = conv.groups > 1 ? 1 : channelMultiple;
  channels_ = conv.groups > 1 ? conv.groups : toInput ? conv.image[1] : conv.filter[0];
  // Reorders: a part of the batch reorders the filters once more, a part of the channels the other operand.
  // Each group has operands of its own.
  const double byBatch = elements(conv.filter);
  const double byChannels = conv.groups > 1 ? 0 : elements(toInput ? conv.result : conv.image);
  const auto most = static_cast<int64_t>(std::clamp(conv.flops() / partFlops, 1.0, 2 * threads));
  double best = std::numeric_limits<double>::infinity();
  for (int64_t batches = 1; batches <= std::min(images_, most); ++batches) {
    const int64_t imagesEach = divideUp(images_, batches);
    for (int64_t wanted = 1; wanted <= std::min(divideUp(channels_, unit), divideUp(most, batches));
         ++wanted) {
      const int64_t channelsEach = divideUp(divideUp(channels_, wanted), unit) * unit;
      const int64_t parts = divideUp(images_, imagesEach) * divideUp(channels_, channelsEach);
      const double moved = static_cast<double>(batches) * byBatch + static_cast<double>(wanted) * byChannels;
      const double work = conv.flops() / flopsPerNanosecond + moved * nanosecondsPerElement;
      const double time = work / std::min(static_cast<double>(parts), threads);
      if (time < best) {
        best = time;
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
