// The figure of "Dive into Deep Learning", chapter "Automatic Parallelism": one training step of a two-layer
// MLP over a CPU and two GPUs as one graph. The drawing has 19 boxes and 10 transfers; scopes are named as
// its boxes.
#pragma once

#include "ir/author/builder.h"

#include <array>

namespace dfc::figure {

inline constexpr int64_t pixels = 784, hidden = 256, classes = 10;
inline constexpr int64_t batch = 128, half = batch / 2;
/// The learning rate of the first step, and its factor from step to step: after ten epochs of 468
/// steps the rate is a twentieth, 0.99936^4680 = 0.05. At a constant rate the accuracy of the last epochs
/// varies by a whole per cent.
inline constexpr double firstRate = 0.25, rateDecay = 0.99936;

/// The devices of the three parts. With one device for all parts the arithmetic and its order stay the same.
struct Cast {
  std::string cpu = "cpu0";
  std::array<std::string, 2> gpus = {"gpu0", "gpu1"};
};

/// One step: feeds images f32[batch, pixels] and labels i64[batch]; parameters w1, w2 and
/// rate. No fetch: the result of a step is its new weights.
Result<Graph> trainingStep(const Cast& cast);

/// The accuracy: feeds images f32[count, pixels] and labels i64[count], fetch "accuracy"; the same
/// w1 and w2.
Result<Graph> evaluation(int64_t count);

} // namespace dfc::figure
