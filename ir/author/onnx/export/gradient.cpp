// Gradients of ops as formulas of other ops, where neither a decomposition nor ONNX has them.
#include "ir/author/gradient_parts.h"
#include "ir/author/onnx/export/channels_first.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::onnx {
namespace {

Names ofCrossEntropy(ExportCall& call) {
  const auto& op = call.as<ops::SoftmaxCrossEntropyGradient>();
  return call.formula([&](const std::vector<Tensor>& in) {
    const Tensor logits = widened(in[0]);
    const int64_t rows = op.rows == 0 ? logits.shape()[0] : op.rows;
    const Tensor labels = oneHot(in[1], logits.shape()[1], -1, logits.type().element);
    const Tensor scale = widened(in[2]) / static_cast<double>(rows);
    return std::vector<Tensor>{narrowed((softmax(logits, 1) - labels) * scale, in[0].type().element)};
  });
}

// A convolution of the images by the cotangents: batch and channels change places, strides and dilations too.
Names ofFilter(ExportCall& call) {
  const auto& op = call.as<ops::Conv2dFilterGradient>();
  if (op.layout != ImageLayout::Nchw) {
    return withChannelsFirst<ops::Conv2dFilterGradient>(call);
  }
  return call.formula([&](const std::vector<Tensor>& in) {
    const Dims image(in[0].shape().dims().begin(), in[0].shape().dims().end());
    const int64_t groups = op.groups, channels = image[1] / groups;
    const Tensor parted = reshape(in[0], {image[0], groups, channels, image[2], image[3]});
    const Tensor images =
        reshape(transpose(parted, {2, 1, 0, 3, 4}), {channels, groups * image[0], image[2], image[3]});
    Window window;
    window.strides = op.dilations;
    window.low = op.low;
    window.high = op.high;
    window.dilations = op.strides;
    const Tensor made = conv2d(images, transpose(in[1], {1, 0, 2, 3}), window, groups);
    const Tensor filter = transpose(made, {1, 0, 2, 3});
    return std::vector<Tensor>{slice(filter, {0, 0, 0, 0}, op.shape)};
  });
}

// Each cotangent over its count goes to every element of its window, a channel by itself.
Names ofAverage(ExportCall& call) {
  const auto& op = call.as<ops::AveragePoolGradient>();
  if (op.layout != ImageLayout::Nchw) {
    return withChannelsFirst<ops::AveragePoolGradient>(call);
  }
  return call.formula([&](const std::vector<Tensor>& in) {
    Builder& builder = *in[0].builder();
    const Dims made(in[0].shape().dims().begin(), in[0].shape().dims().end());
    const auto ones = [&](const Dims& dims) {
      return broadcast(builder.scalar(in[0].type().element, 1), dims);
    };
    const Tensor filter = ones({1, 1, op.window[0], op.window[1]});
    ops::Conv2dInputGradient back;
    back.strides = orOf(op.strides, 1);
    back.low = orOf(op.low, 0);
    back.high = orOf(op.high, 0);
    back.dilations = {1, 1};
    back.shape = {made[0] * made[1], 1, op.shape[2], op.shape[3]};
    Tensor share = reshape(in[0], {made[0] * made[1], 1, made[2], made[3]});
    Window window;
    window.strides = back.strides;
    window.low = back.low;
    window.high = back.high;
    share = op.countPadding ? share / static_cast<double>(op.window[0] * op.window[1])
                            : share / conv2d(ones({1, 1, op.shape[2], op.shape[3]}), filter, window);
    return std::vector<Tensor>{
        reshape(builder.op(back, {filter, share}, std::source_location::current()), op.shape)};
  });
}

// With x the normalised operand: scale / deviation * (cotangent - its mean - x * the mean of cotangent * x).
Names ofBatchNorm(ExportCall& call) {
  const auto& op = call.as<ops::BatchNormGradient>();
  if (op.relu || op.addend) {
    throw NotExported("fused with what is behind it");
  }
  return call.formula([&](const std::vector<Tensor>& in) {
    const Tensor a = widened(in[0]), cotangent = widened(in[4]);
    const size_t rank = a.shape().rank(), own = *normalAxis(op.axis, rank);
    Dims axes, line(rank, 1);
    line[own] = a.shape()[own];
    for (size_t i = 0; i < rank; ++i) {
      if (i != own) {
        axes.push_back(static_cast<int64_t>(i));
      }
    }
    const auto channel = [&](size_t i) { return reshape(widened(in[i]), line); };
    const Tensor inverse = rsqrt(channel(3) + op.epsilon), x = (a - channel(2)) * inverse;
    const auto total = [&](Tensor t) { return axes.empty() ? t : reduceSum(t, axes, true); };
    const Tensor toScale = total(cotangent * x), toBias = total(cotangent);
    const double count = static_cast<double>(a.shape().elements()) / static_cast<double>(a.shape()[own]);
    const Tensor toA = channel(1) * inverse * (cotangent - toBias / count - x * (toScale / count));
    const Dims flat{a.shape()[own]};
    const ElementType statistics = in[1].type().element;
    return std::vector<Tensor>{narrowed(toA, in[0].type().element),
                               narrowed(reshape(toScale, flat), statistics),
                               narrowed(reshape(toBias, flat), statistics)};
  });
}

} // namespace

OpExport gradientExport(OpKind kind) {
  switch (kind) {
  case OpKind::SoftmaxCrossEntropyGradient: return ofCrossEntropy;
  case OpKind::Conv2dFilterGradient: return ofFilter;
  case OpKind::AveragePoolGradient: return ofAverage;
  case OpKind::BatchNormGradient: return ofBatchNorm;
  default: return nullptr;
  }
}

} // namespace dfc::onnx
