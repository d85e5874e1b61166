// The model: a residual network (He et al. 2016) with its stride in the 3x3 convolutions, as torchvision has
// it, and its two graphs: a training step, and the evaluation of a batch by the running statistics. Written
// for one device, without a pin. Parameters have the names and shapes of torchvision's weights, so that the
// two graphs share them by name.
#pragma once

#include "ir/author/builder.h"

namespace dfc::resnet {

/// The sizes of a model and its images.
struct Sizes {
  int64_t depth = 18;   ///< layers with weights: 18 or 34 (basic blocks), 50 or 101 (bottlenecks)
  int64_t width = 16;   ///< channels of the first stage; each further one has twice as many
  int64_t image = 28;   ///< rows and columns of pixels
  int64_t channels = 1; ///< of an image
  int64_t classes = 10; ///< labels are below it

  /// Small images have a stem that keeps their size: a 3x3 convolution without stride, and no pooling.
  bool smallStem() const { return image < 64; }
  /// Rows and columns behind the last stage.
  int64_t lastImage() const;
};

/// How a model is trained: SGD with momentum.
struct Training {
  int64_t batch = 32;    ///< images in a step
  double rate = 0.02;    ///< of a step
  double momentum = 0.9; ///< decay of the velocity
  double decay = 1e-4;   ///< weight decay
  int64_t seed = 1;      ///< of the first weights and of the order of the images
};

/// The running mean and variance of a batch norm become 0.9 of what they were and 0.1 of the batch's.
inline constexpr double keptStatistics = 0.9;

/// One step of training. Feeds "images" u8[batch, channels, image, image] and "labels" i64[batch]; fetches
/// "loss", the mean of -log p(label).
Result<Graph> trainingStep(const Sizes& sizes, const Training& training);

/// Classification with the running statistics: a batch norm is then the same for every image, whatever else
/// is in the batch. Feeds as above; fetches "logits" f32[batch, classes] and "right" f32[], how many images
/// have their label's logit as the largest.
Result<Graph> evaluation(const Sizes& sizes, int64_t batch);

} // namespace dfc::resnet
