// ConvolutionPlan: a convolution, or one of its gradients, cut into parts along its images and along the
// channels that it computes. How it is cut depends on the shapes alone: oneDNN may round differently in parts
// of another size, and a result must not depend on the number of threads.
#pragma once

#include "runtime/cpu/kernels/windows/convolution.h"

namespace dfc {

/// Images [batch, batch + images), and computed channels [first, first + channels). Channels are groups where
/// there are several; else filters, or the image's channels for an input gradient.
struct ConvolutionPart {
  int64_t batch = 0, images = 0, first = 0, channels = 0;
};

class ConvolutionPlan {
 public:
  ConvolutionPlan(ConvolutionPass pass, const Convolution& conv);

  int64_t batchParts() const { return batchParts_; }
  int64_t channelParts() const { return channelParts_; }
  int64_t parts() const { return batchParts_ * channelParts_; }
  ConvolutionPart part(int64_t index) const; ///< index / channelParts() is its part of the batch

 private:
  int64_t images_, channels_;
  int64_t imagesEach_ = 1, channelsEach_ = 1;
  int64_t batchParts_ = 1, channelParts_ = 1;
};

} // namespace dfc
