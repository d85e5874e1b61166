// Layers as nodes: products, convolutions, pools, normalisations. Channels stand on axis 1 in ONNX: other
// layouts are transposed there and back.
#include "ir/author/gradient_parts.h"
#include "ir/author/onnx/export/channels_first.h"
#include "ir/graph/rules/op_rules.h"

#include <numeric>

namespace dfc::onnx {
namespace {

Dims joined(const Dims& low, const Dims& high) {
  Dims both = low;
  both.insert(both.end(), high.begin(), high.end());
  return both;
}

std::string matrixTransposed(ExportCall& call, const std::string& a, size_t rank) {
  Dims order(rank);
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[rank - 1], order[rank - 2]);
  return call.node("Transpose", {a}, {{"perm", attributeOf(order)}});
}

Names product(ExportCall& call) {
  const auto& op = call.as<ops::Matmul>();
  const size_t rankA = call.type(0).shape.rank(), rankB = call.type(1).shape.rank();
  if ((op.transposeA || op.transposeB) && rankA == 2 && rankB == 2) {
    return {call.node(
        "Gemm", call.all(),
        {{"transA", attributeOf(int64_t{op.transposeA})}, {"transB", attributeOf(int64_t{op.transposeB})}})};
  }
  const std::string a = op.transposeA ? matrixTransposed(call, call.operand(0), rankA) : call.operand(0);
  const std::string b = op.transposeB ? matrixTransposed(call, call.operand(1), rankB) : call.operand(1);
  return {call.node("MatMul", {a, b})};
}

template <class Op>
Attributes windowAttributes(const Op& op) {
  return {{"strides", attributeOf(orOf(op.strides, 1))},
          {"pads", attributeOf(joined(orOf(op.low, 0), orOf(op.high, 0)))}};
}

Names convolved(ExportCall& call) {
  const auto& op = call.as<ops::Conv2d>();
  if (op.layout != ImageLayout::Nchw) {
    return withChannelsFirst<ops::Conv2d>(call);
  }
  Attributes attributes = windowAttributes(op);
  attributes["dilations"] = attributeOf(orOf(op.dilations, 1));
  attributes["group"] = attributeOf(op.groups);
  attributes["kernel_shape"] = attributeOf(Dims{call.dims(1)[2], call.dims(1)[3]});
  return {call.node("Conv", call.all(), attributes)};
}

// Elements of the image that no window reaches are zeros behind the others: output_padding.
Names transposedConvolution(ExportCall& call) {
  const auto& op = call.as<ops::Conv2dInputGradient>();
  if (op.layout != ImageLayout::Nchw) {
    return withChannelsFirst<ops::Conv2dInputGradient>(call);
  }
  const Dims filter = call.dims(0), from = call.dims(1), low = orOf(op.low, 0);
  const Dims strides = orOf(op.strides, 1), dilations = orOf(op.dilations, 1);
  Dims high(2), behind(2);
  for (size_t i = 0; i < 2; ++i) {
    const int64_t reach = dilations[i] * (filter[2 + i] - 1) + 1;
    const int64_t cut = (from[2 + i] - 1) * strides[i] + reach - low[i] - op.shape[2 + i];
    high[i] = std::max<int64_t>(cut, 0);
    behind[i] = std::max<int64_t>(-cut, 0);
  }
  return {call.node("ConvTranspose", {call.operand(1), call.operand(0)},
                    {{"strides", attributeOf(strides)},
                     {"dilations", attributeOf(dilations)},
                     {"pads", attributeOf(joined(low, high))},
                     {"output_padding", attributeOf(behind)},
                     {"group", attributeOf(op.groups)},
                     {"kernel_shape", attributeOf(Dims{filter[2], filter[3]})}})};
}

Names largestOf(ExportCall& call) {
  const auto& op = call.as<ops::MaxPool>();
  if (op.layout != ImageLayout::Nchw) {
    return withChannelsFirst<ops::MaxPool>(call);
  }
  Attributes attributes = windowAttributes(op);
  attributes["dilations"] = attributeOf(orOf(op.dilations, 1));
  attributes["kernel_shape"] = attributeOf(op.window);
  return {call.node("MaxPool", call.all(), attributes)};
}

Names averageOf(ExportCall& call) {
  const auto& op = call.as<ops::AveragePool>();
  if (op.layout != ImageLayout::Nchw) {
    return withChannelsFirst<ops::AveragePool>(call);
  }
  Attributes attributes = windowAttributes(op);
  attributes["count_include_pad"] = attributeOf(int64_t{op.countPadding});
  attributes["kernel_shape"] = attributeOf(op.window);
  return {call.node("AveragePool", call.all(), attributes)};
}

ElementType elementOf(NormResult result, ElementType otherwise) {
  switch (result) {
  case NormResult::Unstated: return otherwise;
  case NormResult::F16: return ElementType::F16;
  case NormResult::Bf16: return ElementType::BF16;
  }
  return otherwise;
}

Dims axesFrom(int64_t axis, size_t rank) {
  Dims axes(rank - *normalAxis(axis, rank));
  std::iota(axes.begin(), axes.end(), static_cast<int64_t>(rank - axes.size()));
  return axes;
}

// ONNX's op computes in f32 whatever its operands.
Names layerNormalised(ExportCall& call) {
  const auto& op = call.as<ops::LayerNorm>();
  const ElementType element = call.type(0).element, made = elementOf(op.result, element);
  if (element == ElementType::F64) {
    return call.formula([&](const std::vector<Tensor>& in) {
      const Dims axes = axesFrom(op.axis, in[0].shape().rank());
      const Tensor centred = in[0] - reduceMean(in[0], axes, true);
      Tensor normal = centred * rsqrt(reduceMean(centred * centred, axes, true) + op.epsilon) * in[1];
      return std::vector<Tensor>{in.size() > 2 ? normal + in[2] : normal};
    });
  }
  const std::string result =
      call.node("LayerNormalization", call.all(),
                {{"axis", attributeOf(op.axis)}, {"epsilon", attributeOf(op.epsilon)}});
  return {made == element ? result : call.cast(result, made)};
}

// Older than ONNX's own op, which runtimes of this version do not have.
Names rmsNormalised(ExportCall& call) {
  const auto& op = call.as<ops::RmsNorm>();
  const ElementType made = elementOf(op.result, call.type(0).element);
  return call.formula([&](const std::vector<Tensor>& in) {
    const Tensor a = widened(in[0]);
    const Dims axes = axesFrom(op.axis, a.shape().rank());
    const Tensor normal = a * rsqrt(reduceMean(a * a, axes, true) + op.epsilon) * widened(in[1]);
    return std::vector<Tensor>{narrowed(normal, made)};
  });
}

// A number for each channel, as it broadcasts to `a`.
Tensor perChannel(Tensor channel, Tensor a, int64_t axis) {
  Dims line(a.shape().rank(), 1);
  line[*normalAxis(axis, line.size())] = channel.shape()[0];
  return reshape(widened(channel), line);
}

Names batchNormalised(ExportCall& call) {
  const auto& op = call.as<ops::BatchNorm>();
  const size_t rank = call.type(0).shape.rank();
  if (rank >= 2 && *normalAxis(op.axis, rank) == 1) {
    return {call.node("BatchNormalization", call.all(), {{"epsilon", attributeOf(op.epsilon)}})};
  }
  return call.formula([&](const std::vector<Tensor>& in) {
    const auto channel = [&](size_t i) { return perChannel(in[i], in[0], op.axis); };
    const Tensor normal = (widened(in[0]) - channel(3)) * rsqrt(channel(4) + op.epsilon);
    return std::vector<Tensor>{narrowed(normal * channel(1) + channel(2), in[0].type().element)};
  });
}

Names batchNormalisedByItself(ExportCall& call) {
  const auto& op = call.as<ops::BatchNormTraining>();
  return call.formula([&](const std::vector<Tensor>& in) {
    const Tensor a = widened(in[0]);
    const size_t rank = a.shape().rank(), own = *normalAxis(op.axis, rank);
    Dims axes;
    for (size_t i = 0; i < rank; ++i) {
      if (i != own) {
        axes.push_back(static_cast<int64_t>(i));
      }
    }
    const Tensor mean = axes.empty() ? a : reduceMean(a, axes), centred = a - perChannel(mean, a, op.axis);
    const Tensor square = centred * centred, variance = axes.empty() ? square : reduceMean(square, axes);
    const Tensor normal = centred * rsqrt(perChannel(variance, a, op.axis) + op.epsilon);
    Tensor result = normal * perChannel(in[1], a, op.axis) + perChannel(in[2], a, op.axis);
    result = in.size() > 3 ? result + widened(in[3]) : result;
    const ElementType element = in[0].type().element, statistics = in[1].type().element;
    return std::vector<Tensor>{narrowed(op.relu ? relu(result) : result, element), narrowed(mean, statistics),
                               narrowed(variance, statistics)};
  });
}

Names dropped(ExportCall& call) {
  if (call.as<ops::Dropout>().rate != 0) {
    throw NotExported("which elements it drops is drawn by dfc's own generator: leave it out of what is run "
                      "after training");
  }
  return {call.operand(0)};
}

Names drawn(ExportCall&) { throw NotExported("its numbers are drawn by dfc's own generator"); }

} // namespace

OpExport networkExport(OpKind kind) {
  switch (kind) {
  case OpKind::Matmul: return product;
  case OpKind::Conv2d: return convolved;
  case OpKind::Conv2dInputGradient: return transposedConvolution;
  case OpKind::MaxPool: return largestOf;
  case OpKind::AveragePool: return averageOf;
  case OpKind::LayerNorm: return layerNormalised;
  case OpKind::RmsNorm: return rmsNormalised;
  case OpKind::BatchNorm: return batchNormalised;
  case OpKind::BatchNormTraining: return batchNormalisedByItself;
  case OpKind::Dropout: return dropped;
  case OpKind::RandomUniform: return drawn;
  default: return nullptr;
  }
}

} // namespace dfc::onnx
