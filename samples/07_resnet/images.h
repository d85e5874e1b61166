// The images: Fashion-MNIST's, or random ones where only the time of a step is asked for.
#pragma once

#include "runtime/data/batches.h"
#include "samples/07_resnet/options.h"

namespace dfc::resnet {

/// Batches "images" u8[batch, channels, image, image] and "labels" i64[batch] to train with; each epoch has
/// an order of its own, drawn by the seed.
Batches trainingImages(const Options& options);

/// The same of images that training has not seen, in the file's order.
Batches testImages(const Options& options);

} // namespace dfc::resnet
