// Convolutional families; see image_families.h.
#include "tools/bench/graphs/families/image_families.h"

#include "ir/author/composites.h"

#include <algorithm>

namespace dfc::bench {
namespace {

Tensor images(FamilyModel& model, const FamilySizes& sizes, int64_t channels = 3) {
  const TensorType bytes{ElementType::U8, {sizes.batch, channels, sizes.length, sizes.length}};
  return cast(model.g.input("images", bytes), ElementType::F32) * (1.0 / 128) - 1;
}

Tensor flat(const Tensor& x) { return reshape(x, {x.shape()[0], -1}); }

Tensor halved(const Tensor& x) { return maxPool(x, {2, 2}, {.strides = {2, 2}}); }

/// Each pixel twice in both directions.
Tensor doubled(const Tensor& x) {
  const int64_t n = x.shape()[0], c = x.shape()[1], h = x.shape()[2], w = x.shape()[3];
  return reshape(broadcast(reshape(x, {n, c, h, 1, w, 1}), {n, c, h, 2, w, 2}), {n, c, 2 * h, 2 * w});
}

Tensor normedConvolution(FamilyModel& model, const std::string& name, Tensor x, int64_t to, int64_t size = 3,
                         int64_t stride = 1, int64_t groups = 1) {
  return model.batchNormOf(name + ".bn", model.convolution(name, x, to, size, stride, groups));
}

/// Over groups of 8 channels and all their pixels (Wu and He 2018).
Tensor groupNorm(FamilyModel& model, const std::string& name, Tensor x) {
  const int64_t n = x.shape()[0], c = x.shape()[1], h = x.shape()[2], w = x.shape()[3];
  const Tensor grouped = reshape(x, {n, c / 8, 8 * h * w});
  const Tensor centred = grouped - reduceMean(grouped, {2}, true);
  const Tensor normed = centred * rsqrt(reduceMean(centred * centred, {2}, true) + 1e-5);
  const Tensor scale = reshape(model.vector(name + ".weight", c, 1), {1, c, 1, 1});
  return reshape(normed, {n, c, h, w}) * scale + reshape(model.vector(name + ".bias", c, 0), {1, c, 1, 1});
}

Tensor invertedResidual(FamilyModel& model, const std::string& name, Tensor x, int64_t to, int64_t stride) {
  const int64_t from = x.shape()[1], inner = 6 * from;
  const auto relu6 = [](const Tensor& of) { return clip(of, 0, 6); };
  Tensor y = relu6(normedConvolution(model, name + ".expand", x, inner, 1));
  y = relu6(normedConvolution(model, name + ".depthwise", y, inner, 3, stride, inner));
  y = normedConvolution(model, name + ".project", y, to, 1);
  return stride == 1 && from == to ? x + y : y;
}

/// What a U-Net has at each level: two convolutions with norms.
using Level = Tensor (*)(FamilyModel&, const std::string&, Tensor, int64_t, const Tensor&);

/// `layers` levels down, and up again with the results of the way down beside.
Tensor uNet(FamilyModel& model, const FamilySizes& sizes, Tensor x, Level level, const Tensor& time) {
  std::vector<Tensor> skips;
  for (int64_t i = 0; i + 1 < sizes.layers; ++i) {
    skips.push_back(level(model, "down" + std::to_string(i), x, sizes.width << i, time));
    x = halved(skips.back());
  }
  x = level(model, "middle", x, sizes.width << (sizes.layers - 1), time);
  for (int64_t i = sizes.layers - 2; i >= 0; --i) {
    const std::string name = "up" + std::to_string(i);
    x = model.convolution(name + ".narrow", doubled(x), sizes.width << i, 1);
    x = level(model, name, concat({skips[static_cast<size_t>(i)], x}, 1), sizes.width << i, time);
  }
  return x;
}

Tensor batchNormLevel(FamilyModel& model, const std::string& name, Tensor x, int64_t to,
                      const Tensor& /*time*/) {
  x = relu(normedConvolution(model, name + ".conv1", x, to));
  return relu(normedConvolution(model, name + ".conv2", x, to));
}

Tensor groupNormLevel(FamilyModel& model, const std::string& name, Tensor x, int64_t to, const Tensor& time) {
  Tensor y = silu(groupNorm(model, name + ".norm1", model.convolution(name + ".conv1", x, to, 3)));
  y = y + reshape(model.linear(name + ".time", time, to), {time.shape()[0], to, 1, 1});
  y = silu(groupNorm(model, name + ".norm2", model.convolution(name + ".conv2", y, to, 3)));
  return y + model.convolution(name + ".skip", x, to, 1);
}

/// Zeros between the pixels, and a convolution: twice the size.
Tensor transposedConvolution(FamilyModel& model, const std::string& name, Tensor x, int64_t to) {
  const Tensor filter = model.weight(name + ".weight", {to, x.shape()[1], 4, 4});
  return conv2d(pad(x, {0, 0, 2, 2}, {0, 0, 2, 2}, {0, 0, 1, 1}), filter);
}

Tensor biased(FamilyModel& model, const std::string& name, Tensor x) {
  return x + reshape(model.vector(name + ".bias", x.shape()[1], 0), {1, x.shape()[1], 1, 1});
}

} // namespace

Result<Graph> vggFamily(const FamilySizes& sizes) {
  FamilyModel model("vgg");
  Tensor x = images(model, sizes);
  for (int64_t stage = 0; stage < sizes.layers; ++stage) {
    for (int64_t i = 0; i < 2; ++i) {
      const std::string name = "features." + std::to_string(stage) + "." + std::to_string(i);
      x = relu(
          biased(model, name, model.convolution(name, x, std::min<int64_t>(512, sizes.width << stage), 3)));
    }
    x = halved(x);
  }
  const Tensor step = model.g.parameter("step", i64({}));
  model.g.assign(step, step + 1);
  x = dropout(relu(model.linear("fc1", flat(x), 16 * sizes.width)), step, 0.5, 7);
  const Tensor loss = model.classLoss("labels", model.linear("fc2", x, 1000));
  return std::move(model).minimise(loss, Update::Momentum);
}

Result<Graph> mobileNetFamily(const FamilySizes& sizes) {
  FamilyModel model("mobilenet");
  Tensor x = clip(normedConvolution(model, "stem", images(model, sizes), sizes.width, 3, 2), 0, 6);
  for (int64_t stage = 0; stage < 4; ++stage) {
    for (int64_t i = 0; i < sizes.layers; ++i) {
      const std::string name = "stage" + std::to_string(stage) + "." + std::to_string(i);
      x = invertedResidual(model, name, x, sizes.width * (stage + 1), i == 0 ? 2 : 1);
    }
  }
  x = clip(normedConvolution(model, "last", x, 40 * sizes.width, 1), 0, 6);
  const Tensor loss = model.classLoss("labels", model.linear("head", reduceMean(x, {2, 3}), 1000));
  return std::move(model).minimise(loss, Update::Momentum);
}

Result<Graph> uNetFamily(const FamilySizes& sizes) {
  FamilyModel model("u-net");
  constexpr int64_t classes = 21;
  const Tensor x = uNet(model, sizes, images(model, sizes), batchNormLevel, {});
  const Tensor scores = biased(model, "head", model.convolution("head", x, classes, 1));
  const Tensor labels = model.g.input("labels", i64({sizes.batch, sizes.length, sizes.length}));
  const Tensor perPixel = reshape(transpose(scores, {0, 2, 3, 1}), {-1, classes});
  const Tensor loss = softmaxCrossEntropy(perPixel, reshape(labels, {-1}));
  return std::move(model).minimise(loss, Update::Momentum);
}

Result<Graph> diffusionFamily(const FamilySizes& sizes) {
  FamilyModel model("diffusion");
  const Tensor clean = images(model, sizes);
  const Tensor noise = model.g.input("noise", f32(clean.shape()));
  const Tensor level = model.g.input("level", f32({sizes.batch}));
  const Tensor perImage = reshape(level, {sizes.batch, 1, 1, 1});
  const Tensor noisy = clean * cos(perImage) + noise * sin(perImage);
  const Tensor angles = reshape(level, {sizes.batch, 1}) * exp(iota(model.g, f32({1, 64}), 1) * 0.1);
  const Tensor time = silu(model.linear("time", concat({sin(angles), cos(angles)}, 1), 4 * sizes.width));
  const Tensor x = uNet(model, sizes, model.convolution("stem", noisy, sizes.width, 3), groupNormLevel, time);
  const Tensor loss = FamilyModel::squaredLoss(model.convolution("head", x, 3, 3), noise);
  return std::move(model).minimise(loss, Update::Adam);
}

Result<Graph> autoencoderFamily(const FamilySizes& sizes) {
  FamilyModel model("autoencoder");
  const Tensor pixels = images(model, sizes);
  Tensor x = pixels;
  for (int64_t i = 0; i < sizes.layers; ++i) {
    const std::string name = "encode" + std::to_string(i);
    x = relu(biased(model, name, model.convolution(name, x, sizes.width << i, 3, 2)));
  }
  const Shape inner = x.shape();
  const Tensor code = model.linear("code", flat(x), 256);
  x = reshape(relu(model.linear("decode", code, inner[1] * inner[2] * inner[3])),
              {sizes.batch, inner[1], inner[2], inner[3]});
  for (int64_t i = sizes.layers - 1; i >= 0; --i) {
    const std::string name = "decode" + std::to_string(i);
    x = biased(model, name, transposedConvolution(model, name, x, i == 0 ? 3 : sizes.width << (i - 1)));
    x = i == 0 ? x : relu(x);
  }
  return std::move(model).minimise(FamilyModel::squaredLoss(x, pixels), Update::Adam);
}

Result<Graph> oddConvolutionsFamily(const FamilySizes& sizes) {
  FamilyModel model("odd convolutions");
  Tensor x = images(model, sizes);
  for (int64_t i = 0; i < sizes.layers; ++i) {
    const std::string name = "conv" + std::to_string(i);
    x = relu(normedConvolution(model, name, x, sizes.width + 34 * i, i == 0 ? 5 : 3, i % 2 + 1));
  }
  const Tensor loss = model.classLoss("labels", model.linear("head", reduceMean(x, {2, 3}), 77));
  return std::move(model).minimise(loss, Update::Momentum);
}

Result<Graph> efficientNetFamily(const FamilySizes& sizes) {
  FamilyModel model("efficientnet");
  Tensor x = silu(normedConvolution(model, "stem", images(model, sizes), sizes.width, 3, 2));
  for (int64_t stage = 0; stage < 4; ++stage) {
    for (int64_t i = 0; i < sizes.layers; ++i) {
      const std::string name = "stage" + std::to_string(stage) + "." + std::to_string(i);
      const int64_t from = x.shape()[1], to = sizes.width * (stage + 1), stride = i == 0 ? 2 : 1;
      Tensor y = silu(normedConvolution(model, name + ".expand", x, 6 * from, 1));
      y = silu(normedConvolution(model, name + ".depthwise", y, 6 * from, 5, stride, 6 * from));
      const Tensor squeezed = silu(model.linear(name + ".squeeze", reduceMean(y, {2, 3}), from / 4));
      const Tensor excited = sigmoid(model.linear(name + ".excite", squeezed, 6 * from));
      y = y * reshape(excited, {sizes.batch, 6 * from, 1, 1});
      y = normedConvolution(model, name + ".project", y, to, 1);
      x = stride == 1 && from == to ? x + y : y;
    }
  }
  x = silu(normedConvolution(model, "last", x, 20 * sizes.width, 1));
  const Tensor loss = model.classLoss("labels", model.linear("head", reduceMean(x, {2, 3}), 1000));
  return std::move(model).minimise(loss, Update::Momentum);
}

Result<Graph> wavenetFamily(const FamilySizes& sizes) {
  FamilyModel model("wavenet");
  const auto along = [&](const std::string& name, Tensor x, int64_t to, int64_t size, int64_t dilation) {
    const Tensor filter = model.weight(name + ".weight", {to, x.shape()[1], 1, size});
    return conv2d(x, filter, {.low = {0, dilation * (size - 1)}, .high = {0, 0}, .dilations = {1, dilation}});
  };
  const Tensor samples = model.g.input("samples", f32({sizes.batch, 1, 1, sizes.length + 1}));
  Tensor x = along("in", slice(samples, {0, 0, 0, 0}, {sizes.batch, 1, 1, sizes.length}), sizes.width, 2, 1);
  Tensor skips;
  for (int64_t i = 0; i < sizes.layers; ++i) {
    const std::string name = "layers." + std::to_string(i);
    const std::vector<Tensor> halves =
        split(along(name + ".dilated", x, 2 * sizes.width, 2, int64_t{1} << (i % 8)),
              {sizes.width, sizes.width}, 1);
    const Tensor gated = tanh(halves[0]) * sigmoid(halves[1]);
    const Tensor skip = along(name + ".skip", gated, sizes.width, 1, 1);
    skips = i == 0 ? skip : skips + skip;
    x = x + along(name + ".residual", gated, sizes.width, 1, 1);
  }
  const Tensor made = along("out", relu(biased(model, "skip", skips)), 1, 1, 1);
  const Tensor next = slice(samples, {0, 0, 0, 1}, {sizes.batch, 1, 1, sizes.length + 1});
  return std::move(model).minimise(FamilyModel::squaredLoss(made, next), Update::Adam);
}

} // namespace dfc::bench
