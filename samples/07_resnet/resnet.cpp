// See resnet.h.
#include "samples/07_resnet/resnet.h"

#include "ir/author/dsl.h"
#include "ir/author/gradients.h"
#include "ir/author/layers.h"
#include "ir/author/optimizers.h"

#include <array>

namespace dfc::resnet {
namespace {

constexpr int64_t stages = 4;

/// How many blocks each stage has, and of which kind.
struct Blocks {
  std::array<int64_t, stages> counts;
  bool bottleneck = false; // a 1x1, a 3x3 and a 1x1 convolution with 4 times the channels, or two of 3x3

  int64_t outputFactor() const { return bottleneck ? 4 : 1; }
};

Blocks blocksOf(int64_t depth) {
  switch (depth) {
  case 18: return {{2, 2, 2, 2}};
  case 34: return {{3, 4, 6, 3}};
  case 50: return {{3, 4, 6, 3}, true};
  default: return {{3, 4, 23, 3}, true}; // 101
  }
}

class Model {
 public:
  Model(Builder& g, const Sizes& sizes, Phase phase, int64_t seed = 0)
      : g_(g), net_(g, phase, seed), sizes_(sizes), blocks_(blocksOf(sizes.depth)) {}

  /// images: f32[batch, channels, image, image]. Result: [batch, classes].
  Tensor logits(Tensor images) {
    Tensor x = stem(images);
    for (int64_t stage = 0; stage < stages; ++stage) {
      for (int64_t i = 0; i < blocks_.counts[static_cast<size_t>(stage)]; ++i) {
        const std::string name = "layer" + std::to_string(stage + 1) + "." + std::to_string(i);
        auto scope = g_.scope(name);
        x = block(name, x, sizes_.width << stage, stage > 0 && i == 0 ? 2 : 1);
      }
    }
    return head(x);
  }

  /// One step of SGD with momentum on everything that `logits` has used.
  void minimise(Tensor loss, const Training& training) const {
    const std::vector<Tensor> d = gradients(loss, net_.trained());
    auto scope = g_.scope("sgd");
    momentum(net_.trained(), d,
             {.rate = training.rate, .momentum = training.momentum, .weightDecay = training.decay});
  }

 private:
  /// Padded so that a stride of 1 keeps the image's size.
  Tensor convolution(const std::string& name, Tensor x, int64_t to, int64_t size, int64_t stride = 1) {
    return net_.convolution(name, x, to, size, {.stride = stride});
  }

  Tensor norm(const std::string& name, Tensor x) { return net_.batchNorm(name, x, keptStatistics); }

  Tensor stem(Tensor images) {
    auto scope = g_.scope("stem");
    const bool small = sizes_.smallStem();
    const Tensor x = convolution("conv1", images, sizes_.width, small ? 3 : 7, small ? 1 : 2);
    const Tensor activated = relu(norm("bn1", x));
    return small ? activated : maxPool(activated, {3, 3}, {.strides = {2, 2}, .low = {1, 1}, .high = {1, 1}});
  }

  /// relu(f(x) + x), where x takes a 1x1 convolution if f changes its shape.
  Tensor block(const std::string& name, Tensor x, int64_t channels, int64_t stride) {
    const int64_t to = channels * blocks_.outputFactor();
    const Tensor residual =
        blocks_.bottleneck ? bottleneck(name, x, channels, stride) : basic(name, x, channels, stride);
    const Tensor shortcut = stride == 1 && x.shape()[1] == to ? x : projection(name, x, to, stride);
    return relu(residual + shortcut);
  }

  Tensor projection(const std::string& name, Tensor x, int64_t to, int64_t stride) {
    return norm(name + ".downsample.1", convolution(name + ".downsample.0", x, to, 1, stride));
  }

  Tensor basic(const std::string& name, Tensor x, int64_t channels, int64_t stride) {
    x = relu(norm(name + ".bn1", convolution(name + ".conv1", x, channels, 3, stride)));
    return norm(name + ".bn2", convolution(name + ".conv2", x, channels, 3));
  }

  Tensor bottleneck(const std::string& name, Tensor x, int64_t channels, int64_t stride) {
    x = relu(norm(name + ".bn1", convolution(name + ".conv1", x, channels, 1)));
    x = relu(norm(name + ".bn2", convolution(name + ".conv2", x, channels, 3, stride)));
    return norm(name + ".bn3", convolution(name + ".conv3", x, blocks_.outputFactor() * channels, 1));
  }

  /// The mean of each channel, and a linear layer whose small weights make all classes nearly as likely at
  /// first (Goyal et al. 2017).
  Tensor head(Tensor x) {
    auto scope = g_.scope("head");
    return net_.linear("fc", reduceMean(x, {2, 3}), sizes_.classes,
                       {.outFirst = true, .start = normal(0, 0.01, net_.nextSeed())});
  }

  Builder& g_;
  Layers net_;
  Sizes sizes_;
  Blocks blocks_;
};

/// The batch as it is fed, and its pixels as the model takes them.
struct Feeds {
  Feeds(Builder& g, const Sizes& sizes, int64_t batch)
      : labels(g.input("labels", i64({batch}))),
        pixels(normalised(
            g.input("images", {ElementType::U8, {batch, sizes.channels, sizes.image, sizes.image}}))) {}

  Tensor labels, pixels;

 private:
  /// By the mean and the deviation of Fashion-MNIST's training images.
  static Tensor normalised(Tensor bytes) { return (cast(bytes, ElementType::F32) - 72.9) * (1.0 / 90); }
};

} // namespace

int64_t Sizes::lastImage() const {
  int64_t rows = image;
  for (int64_t halvings = smallStem() ? stages - 1 : stages + 1; halvings > 0; --halvings) {
    rows = (rows + 1) / 2;
  }
  return rows;
}

Result<Graph> trainingStep(const Sizes& sizes, const Training& training) {
  Builder g("resnet" + std::to_string(sizes.depth) + " training");
  const Feeds feeds(g, sizes, training.batch);
  Model model(g, sizes, Phase::Training, training.seed);
  const Tensor loss = softmaxCrossEntropy(model.logits(feeds.pixels), feeds.labels);
  model.minimise(loss, training);
  g.fetch("loss", loss);
  return std::move(g).finish();
}

Result<Graph> evaluation(const Sizes& sizes, int64_t batch) {
  Builder g("resnet" + std::to_string(sizes.depth) + " evaluation");
  const Feeds feeds(g, sizes, batch);
  const Tensor logits = Model(g, sizes, Phase::Evaluation).logits(feeds.pixels);
  const Tensor right = compare(argMax(logits), feeds.labels, Direction::Eq);
  g.fetch("logits", logits);
  g.fetch("right", reduceSum(cast(right, ElementType::F32)));
  return std::move(g).finish();
}

} // namespace dfc::resnet
