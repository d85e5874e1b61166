// Convolutions and pools, in both layouts, with strides, padding, dilations and groups, and their gradients.
#include "ir/base/assert.h"
#include "ir/graph/rules/layout.h"
#include "tests/compiler/split/larger_samples.h"
#include "tests/support/typed_body.h"

namespace dfc::test {
namespace {

struct Form {
  Shape image, filter;
  Dims strides, low, high, dilations;
  int64_t groups = 1;
};

const std::vector<Form> convolutionForms = {{{2, 5, 9, 8}, {6, 5, 3, 3}, {}, {1, 1}, {1, 1}, {}, 1},
                                            {{5, 2, 11, 7}, {5, 2, 2, 3}, {2, 1}, {1, 0}, {0, 1}, {2, 1}, 1},
                                            {{2, 10, 6, 6}, {10, 2, 3, 2}, {1, 2}, {2, 1}, {2, 1}, {}, 5},
                                            {{3, 3, 5, 5}, {3, 1, 5, 1}, {}, {4, 0}, {4, 0}, {}, 3},
                                            {{2, 3, 10, 10}, {2, 3, 1, 2}, {2, 3}, {}, {}, {}, 1}};

const std::vector<Form> poolForms = {{{2, 5, 9, 8}, {1, 1, 3, 2}, {}, {1, 0}, {1, 1}, {}, 1},
                                     {{5, 2, 12, 11}, {1, 1, 2, 3}, {2, 2}, {}, {}, {}, 1},
                                     {{2, 2, 6, 6}, {1, 1, 2, 2}, {3, 1}, {1, 1}, {0, 0}, {}, 1}};

OpSample laidOut(OpAttributes attributes, std::vector<TensorType> operands, ImageLayout layout) {
  if (layout == ImageLayout::Nchw) {
    return {std::move(attributes), std::move(operands)};
  }
  OpAttributes form = *channelsLastForm(attributes, layout == ImageLayout::NhwcOihw);
  for (size_t i = 0; i < operands.size(); ++i) {
    operands[i].shape = isOperandLast(form, i) ? channelsLast(operands[i].shape) : operands[i].shape;
  }
  return {std::move(form), std::move(operands)};
}

template <class Op>
void convolutionAttributesOf(Op& op, const Form& form) {
  op.strides = form.strides;
  op.low = form.low;
  op.high = form.high;
  op.dilations = form.dilations;
  op.groups = form.groups;
}

Dims dimsOf(const Shape& shape) { return {shape.dims().begin(), shape.dims().end()}; }

OpSample convolutionSample(OpKind kind, ElementType element, const Form& form, ImageLayout layout) {
  ops::Conv2d forward;
  convolutionAttributesOf(forward, form);
  const TensorType image{element, form.image}, filter{element, form.filter};
  const TypeResult result = resultTypes(forward, {image, filter});
  DFC_ASSERT(result.ok(), result.error);
  if (kind == OpKind::Conv2dInputGradient) {
    ops::Conv2dInputGradient op;
    convolutionAttributesOf(op, form);
    op.shape = dimsOf(form.image);
    return laidOut(op, {filter, result.types[0]}, layout);
  }
  if (kind == OpKind::Conv2dFilterGradient) {
    ops::Conv2dFilterGradient op;
    convolutionAttributesOf(op, form);
    op.shape = dimsOf(form.filter);
    return laidOut(op, {image, result.types[0]}, layout);
  }
  return laidOut(forward, {image, filter}, layout);
}

// With a value for each channel, one for each image and a whole tensor behind the convolution.
OpSample fusedSample(ElementType element, const Form& form, ImageLayout layout) {
  const OpSample convolution = convolutionSample(OpKind::Conv2d, element, form, layout);
  auto op = withBody<ops::FusedConv2d>("add:T %0 %1; max:T %4 %2; mul:T %5 %3", element);
  static_cast<ops::Conv2d&>(op) = convolution.attributes.as<ops::Conv2d>();
  const TensorType made = resultTypes(convolution.attributes, convolution.operands).types[0];
  const bool last = layout != ImageLayout::Nchw;
  const int64_t filters = made.shape[last ? 3 : 1];
  std::vector<TensorType> operands = convolution.operands;
  operands.push_back({element, last ? Shape{filters} : Shape{filters, 1, 1}});
  operands.push_back(made);
  operands.push_back({element, {made.shape[0], 1, 1, 1}});
  return {op, std::move(operands)};
}

template <class Op>
Op poolOf(const Form& form) {
  Op op;
  op.window = {form.filter[2], form.filter[3]};
  op.strides = form.strides;
  op.low = form.low;
  op.high = form.high;
  return op;
}

OpSample poolSample(OpKind kind, ElementType element, const Form& form, ImageLayout layout,
                    bool countPadding) {
  const TensorType image{element, form.image};
  const TypeResult result = resultTypes(poolOf<ops::AveragePool>(form), {{ElementType::F32, form.image}});
  DFC_ASSERT(result.ok(), result.error);
  const TensorType pooled{element, result.types[0].shape};
  switch (kind) {
  case OpKind::MaxPool: return laidOut(poolOf<ops::MaxPool>(form), {image}, layout);
  case OpKind::MaxPoolGradient: return laidOut(poolOf<ops::MaxPoolGradient>(form), {image, pooled}, layout);
  case OpKind::AveragePool: {
    auto op = poolOf<ops::AveragePool>(form);
    op.countPadding = countPadding;
    return laidOut(op, {image}, layout);
  }
  default: {
    auto op = poolOf<ops::AveragePoolGradient>(form);
    op.countPadding = countPadding;
    op.shape = dimsOf(form.image);
    return laidOut(op, {pooled}, layout);
  }
  }
}

} // namespace

std::vector<OpSample> largerWindowSamples(OpKind kind, ElementType element) {
  std::vector<OpSample> samples;
  const bool pool = kind == OpKind::MaxPool || kind == OpKind::MaxPoolGradient ||
                    kind == OpKind::AveragePool || kind == OpKind::AveragePoolGradient;
  if (!isFloat(element) && !pool) {
    return {};
  }
  for (const ImageLayout layout : {ImageLayout::Nchw, ImageLayout::Nhwc, ImageLayout::NhwcOihw}) {
    for (const Form& form : pool ? poolForms : convolutionForms) {
      if (kind == OpKind::FusedConv2d) {
        samples.push_back(fusedSample(element, form, layout));
      } else if (!pool) {
        samples.push_back(convolutionSample(kind, element, form, layout));
      } else if (layout != ImageLayout::NhwcOihw) {
        samples.push_back(poolSample(kind, element, form, layout, false));
        samples.push_back(poolSample(kind, element, form, layout, true));
      }
    }
  }
  return samples;
}

} // namespace dfc::test
