// Calls of convolutions and pools: strides, pads, dilations, groups.
#include "tests/support/kernel_cases/cases.h"

#include "ir/graph/rules/convolution.h"
#include "ir/graph/rules/layout.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::test {
namespace {

// A convolution and its two gradients.
struct ConvolutionCase {
  Shape image, filter;
  Dims strides, low, high, dilations;
  int64_t groups = 1;
};

// The call, and, if `last`, the same with the channels last: of convolutions also with filters as they are.
void pushLayouts(Cases& cases, bool last, const OpAttributes& attributes,
                 const std::vector<TensorType>& operands) {
  cases.push(attributes, operands);
  for (const bool keepFilter : {false, true}) {
    const OpAttributes form = *channelsLastForm(attributes, keepFilter);
    if (!last || (keepFilter && !convolutionCall(attributes, operands))) {
      return;
    }
    std::vector<TensorType> inForm = operands;
    for (size_t i = 0; i < inForm.size(); ++i) {
      inForm[i].shape = isOperandLast(form, i) ? channelsLast(inForm[i].shape) : inForm[i].shape;
    }
    cases.push(form, std::move(inForm));
  }
}

void addConvolution(Cases& cases, const ConvolutionCase& c, bool last) {
  ops::Conv2d forward;
  forward.strides = c.strides;
  forward.low = c.low;
  forward.high = c.high;
  forward.dilations = c.dilations;
  forward.groups = c.groups;
  const TensorType image = cases.of(c.image), filter = cases.of(c.filter);
  const TypeResult result = resultTypes(forward, std::vector<TensorType>{image, filter});
  if (!result.ok()) {
    return;
  }
  auto toInput = sameConvolution<ops::Conv2dInputGradient>(forward);
  toInput.shape.assign(c.image.dims().begin(), c.image.dims().end());
  auto toFilter = sameConvolution<ops::Conv2dFilterGradient>(forward);
  toFilter.shape.assign(c.filter.dims().begin(), c.filter.dims().end());
  pushLayouts(cases, last, forward, {image, filter});
  pushLayouts(cases, last, toInput, {filter, result.types[0]});
  pushLayouts(cases, last, toFilter, {image, result.types[0]});
}

void addConvolutions(Cases& cases, bool large) {
  const std::vector<ConvolutionCase> convolutions = {
      {{1, 1, 1, 1}, {1, 1, 1, 1}, {}, {}, {}, {}, 1},
      {{2, 9, 6, 7}, {10, 9, 3, 2}, {}, {1, 0}, {1, 1}, {}, 1},           // tiles
      {{1, 3, 12, 11}, {34, 3, 3, 3}, {2, 3}, {1, 2}, {0, 1}, {1, 2}, 1}, // few channels
      {{2, 24, 5, 5}, {20, 12, 3, 3}, {1, 2}, {2, 0}, {1, 3}, {2, 1}, 2}, // groups in tiles
      {{2, 6, 9, 8}, {12, 1, 3, 3}, {2, 1}, {1, 1}, {1, 1}, {}, 6},       // depthwise
      {{3, 2, 30, 20}, {2, 1, 2, 2}, {}, {}, {}, {}, 2},                  // sums long enough for a block
      {{4, 16, 12, 12}, {9, 16, 3, 3}, {}, {1, 1}, {1, 1}, {}, 1},        // sums cut into pieces
      {{0, 3, 4, 4}, {2, 3, 3, 3}, {}, {}, {}, {}, 1},
      {{2, 0, 4, 4}, {2, 0, 3, 3}, {}, {}, {}, {}, 1},
      {{1, 2, 9, 9}, {2, 2, 2, 2}, {4, 5}, {3, 0}, {0, 3}, {3, 2}, 1}};
  for (size_t i = 0; i < convolutions.size(); ++i) {
    const bool last = i == 1 || i == 3 || i == 4; // tiles, groups, depthwise
    addConvolution(cases, convolutions[i], last);
  }
  if (large) { // large tiles
    cases.add<ops::Conv2d>({cases.of({2, 16, 72, 72}), cases.of({130, 16, 3, 3})}, [](auto& op) {
      op.low = {1, 1};
      op.high = {1, 1};
    });
  }
}

template <class Op>
Op windowed(const ConvolutionCase& c) { // filter: [.., .., rows, columns] of the window
  Op op;
  op.window = {c.filter[2], c.filter[3]};
  op.strides = c.strides;
  op.low = c.low;
  op.high = c.high;
  return op;
}

void addPools(Cases& cases) {
  const std::vector<ConvolutionCase> pools = {{{2, 3, 6, 7}, {1, 1, 2, 2}, {2, 2}, {}, {}, {}, 1},
                                              {{1, 2, 7, 9}, {1, 1, 3, 3}, {}, {1, 1}, {1, 1}, {}, 1},
                                              {{1, 1, 9, 8}, {1, 1, 3, 2}, {2, 3}, {1, 0}, {2, 1}, {}, 1},
                                              {{2, 1, 8, 9}, {1, 1, 3, 2}, {1, 2}, {2, 0}, {0, 1}, {2, 3}, 1},
                                              {{2, 3, 5, 5}, {1, 1, 5, 5}, {}, {}, {}, {}, 1},
                                              {{0, 3, 4, 4}, {1, 1, 2, 2}, {}, {}, {}, {}, 1},
                                              {{1, 8, 5, 6}, {1, 1, 3, 2}, {2, 1}, {1, 0}, {0, 1}, {}, 1}};
  for (size_t i = 0; i < pools.size(); ++i) {
    const ConvolutionCase& c = pools[i];
    const bool last = i < 2 || i == 4 || i == 6; // the last in packs of channels
    const TensorType image = cases.of(c.image);
    auto most = windowed<ops::MaxPool>(c);
    auto mostBack = windowed<ops::MaxPoolGradient>(c);
    most.dilations = mostBack.dilations = c.dilations;
    const TypeResult pooled = resultTypes(most, std::vector<TensorType>{image});
    if (!pooled.ok()) {
      continue;
    }
    pushLayouts(cases, last, most, {image});
    pushLayouts(cases, last, mostBack, {image, pooled.types[0]});
    if (!c.dilations.empty()) {
      continue;
    }
    for (const bool countPadding : {false, true}) {
      auto mean = windowed<ops::AveragePool>(c);
      auto meanBack = windowed<ops::AveragePoolGradient>(c);
      mean.countPadding = meanBack.countPadding = countPadding;
      meanBack.shape.assign(c.image.dims().begin(), c.image.dims().end());
      pushLayouts(cases, last, mean, {image});
      pushLayouts(cases, last, meanBack, {pooled.types[0]});
    }
  }
}

template <class Set>
void addBatchNorm(Cases& cases, const TensorType& a, const TensorType& vector, bool endings, const Set& set) {
  cases.add<ops::BatchNorm>({a, vector, vector, vector, vector}, set);
  cases.add<ops::BatchNormSums>({a}, set);
  cases.add<ops::BatchNormSums>({a, vector, a}, set);
  cases.add<ops::BatchNormSums>({a, vector, a, a}, [&](auto& op) { set(op), op.relu = true; });
  for (const bool relu : {false, true}) {
    for (const bool addend : {false, true}) {
      if ((relu || addend) && !endings) {
        continue;
      }
      std::vector<TensorType> forward = {a, vector, vector}, backward = {a, vector, vector, vector, a};
      if (addend) {
        forward.push_back(a);
      }
      if (relu) {
        backward.push_back(a);
      }
      const TensorType sums{ElementType::F64, {2, vector.shape[0]}};
      std::vector<TensorType> pass = {a, vector, vector, sums}, back = {a, vector, vector, vector, a, sums};
      if (addend) {
        pass.push_back(a);
      }
      if (relu) {
        back.push_back(a);
      }
      cases.add<ops::BatchNormPass>(pass, [&](auto& op) { set(op), op.relu = relu, op.count = 7; });
      cases.add<ops::BatchNormGradientPass>(
          back, [&](auto& op) { set(op), op.relu = relu, op.addend = addend, op.count = 7; });
      cases.add<ops::BatchNormTraining>(forward, [&](auto& op) { set(op), op.relu = relu; });
      cases.add<ops::BatchNormGradient>(backward,
                                        [&](auto& op) { set(op), op.relu = relu, op.addend = addend; });
    }
  }
}

void addBatchNorms(Cases& cases, bool large) {
  std::vector<std::pair<Shape, int64_t>> shapes = {
      {{5}, 0},         {{4, 1}, 1},         {{3, 5, 2, 3}, 1}, {{37, 6}, 1},
      {{2, 3, 16}, -2}, {{3, 40, 8, 8}, 1},  {{700, 3}, -1},    {{2, 0, 3}, 1},
      {{6, 2, 9}, 0},   {{2, 2, 90, 60}, 1}, {{1, 300, 4}, 1},  {{9, 4, 1, 1}, 1}};
  if (large) {
    shapes.push_back({{40, 64, 14, 14}, 1});
    shapes.push_back({{70000, 5}, 1});
  }
  size_t index = 0;
  for (const auto& [shape, axis] : shapes) {
    const bool endings = index == 2 || index == 3 || index == 8; // channels between, last and first
    ++index;
    const TensorType a = cases.of(shape);
    const TensorType vector = cases.of(Shape{shape[*normalAxis(axis, shape.rank())]});
    const int64_t along = axis;
    const auto set = [&](auto& op) { op.axis = along; };
    // The numbers of channels of the tensor's type, and in f32 beside 16 bits.
    for (const TensorType& numbers : {vector, TensorType{ElementType::F32, vector.shape}}) {
      if (numbers == vector || (byteWidth(a.element) == 2 && endings)) {
        addBatchNorm(cases, a, numbers, endings, set);
      }
    }
  }
}

} // namespace

void addWindows(Cases& cases, bool large) {
  addConvolutions(cases, large);
  addPools(cases);
  addBatchNorms(cases, large);
}

} // namespace dfc::test
