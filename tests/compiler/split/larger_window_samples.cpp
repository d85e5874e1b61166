// Convolutions and pools, in both layouts, with strides, padding, dilations and groups, and their gradients.
#include "ir/base/assert.h"
#include "ir/graph/rules/layout.h"
#include "tests/compiler/split/larger_samples.h"

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

OpSample laidOut(OpAttributes attributes, std::vector<TensorType> operands, bool last) {
  if (!last) {
    return {std::move(attributes), std::move(operands)};
  }
  for (TensorType& operand : operands) {
    operand.shape = channelsLast(operand.shape);
  }
  return {*channelsLastForm(attributes), std::move(operands)};
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

OpSample convolutionSample(OpKind kind, ElementType element, const Form& form, bool last) {
  ops::Conv2d forward;
  convolutionAttributesOf(forward, form);
  const TensorType image{element, form.image}, filter{element, form.filter};
  const TypeResult result = resultTypes(forward, {image, filter});
  DFC_ASSERT(result.ok(), result.error);
  if (kind == OpKind::Conv2dInputGradient) {
    ops::Conv2dInputGradient op;
    convolutionAttributesOf(op, form);
    op.shape = dimsOf(form.image);
    return laidOut(op, {filter, result.types[0]}, last);
  }
  if (kind == OpKind::Conv2dFilterGradient) {
    ops::Conv2dFilterGradient op;
    convolutionAttributesOf(op, form);
    op.shape = dimsOf(form.filter);
    return laidOut(op, {image, result.types[0]}, last);
  }
  return laidOut(forward, {image, filter}, last);
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

OpSample poolSample(OpKind kind, ElementType element, const Form& form, bool last, bool countPadding) {
  const TensorType image{element, form.image};
  const TypeResult result = resultTypes(poolOf<ops::AveragePool>(form), {{ElementType::F32, form.image}});
  DFC_ASSERT(result.ok(), result.error);
  const TensorType pooled{element, result.types[0].shape};
  switch (kind) {
  case OpKind::MaxPool: return laidOut(poolOf<ops::MaxPool>(form), {image}, last);
  case OpKind::MaxPoolGradient: return laidOut(poolOf<ops::MaxPoolGradient>(form), {image, pooled}, last);
  case OpKind::AveragePool: {
    auto op = poolOf<ops::AveragePool>(form);
    op.countPadding = countPadding;
    return laidOut(op, {image}, last);
  }
  default: {
    auto op = poolOf<ops::AveragePoolGradient>(form);
    op.countPadding = countPadding;
    op.shape = dimsOf(form.image);
    return laidOut(op, {pooled}, last);
  }
  }
}

} // namespace

std::vector<OpSample> largerWindowSamples(OpKind kind, ElementType element) {
  std::vector<OpSample> samples;
  const bool convolution =
      kind == OpKind::Conv2d || kind == OpKind::Conv2dInputGradient || kind == OpKind::Conv2dFilterGradient;
  if (!isFloat(element) && convolution) {
    return {};
  }
  for (const bool last : {false, true}) {
    for (const Form& form : convolution ? convolutionForms : poolForms) {
      samples.push_back(convolution ? convolutionSample(kind, element, form, last)
                                    : poolSample(kind, element, form, last, last));
      if (!convolution) {
        samples.push_back(poolSample(kind, element, form, last, !last));
      }
    }
  }
  return samples;
}

} // namespace dfc::test
