#include "tests/conformance/bounds.h"

#include "compiler/interpreter/evaluate.h"
#include "ir/base/assert.h"
#include "ir/graph/formula/formulas.h"
#include "ir/graph/fused_instruction.h"
#include "ir/graph/graph.h"
#include "ir/graph/rules/convolution.h"
#include "ir/graph/rules/op_rules.h"
#include "tests/support/formula_bounds.h"

#include <algorithm>
#include <cmath>

namespace dfc::test {

double epsilonOf(ElementType type) {
  switch (type) {
  case ElementType::F64: return 0x1p-52;
  case ElementType::F32: return 0x1p-23;
  case ElementType::F16: return 0x1p-10;
  case ElementType::BF16: return 0x1p-7;
  case ElementType::I32:
  case ElementType::I64:
  case ElementType::U8:
  case ElementType::Bool: return 0;
  }
  DFC_UNREACHABLE("element type");
}

ElementType accumulatorType(ElementType type) {
  return type == ElementType::F64 ? ElementType::F64 : ElementType::F32;
}
double accumulatorEpsilon(ElementType type) { return epsilonOf(accumulatorType(type)); }

double smallestOf(ElementType type) {
  switch (type) {
  case ElementType::F64: return 0x1p-1074;
  case ElementType::F32: return 0x1p-149;
  case ElementType::F16: return 0x1p-24;
  default: return 0x1p-133; // bf16
  }
}

Literal magnitudes(const Literal& value) {
  Literal result(value.type());
  for (int64_t i = 0; i < value.type().shape.elements(); ++i) {
    result.set(i, std::fabs(value.at(i)));
  }
  return result;
}

double largestMagnitude(llvm::ArrayRef<Literal> operands) {
  double largest = 0;
  for (const Literal& operand : operands) {
    for (int64_t i = 0; i < operand.type().shape.elements(); ++i) {
      const double value = std::fabs(operand.at(i));
      largest = std::isfinite(value) ? std::max(largest, value) : largest;
    }
  }
  return largest;
}

namespace {

/// Of one sum in a convolution, a pool or a gradient of these; none for other ops.
std::optional<double> windowTerms(const OpAttributes& attributes, llvm::ArrayRef<Literal> operands) {
  std::vector<TensorType> types;
  for (const Literal& operand : operands) {
    types.push_back(operand.type());
  }
  if (const auto* forward = attributes.getIf<ops::Conv2d>()) {
    return static_cast<double>(convolutionOf(*forward, types).terms());
  }
  if (const auto* toInput = attributes.getIf<ops::Conv2dInputGradient>()) {
    const Convolution conv = convolutionOf(*toInput, types);
    return static_cast<double>(conv.groupFilters() * conv.windows.size());
  }
  if (const auto* toFilter = attributes.getIf<ops::Conv2dFilterGradient>()) {
    const Convolution conv = convolutionOf(*toFilter, types);
    return static_cast<double>(conv.batch() * conv.pixels());
  }
  const Dims* window = nullptr;
  if (const auto* mean = attributes.getIf<ops::AveragePool>()) {
    window = &mean->window;
  } else if (const auto* spread = attributes.getIf<ops::AveragePoolGradient>()) {
    window = &spread->window;
  } else if (const auto* picked = attributes.getIf<ops::MaxPoolGradient>()) {
    window = &picked->window;
  }
  return window == nullptr ? std::nullopt : std::optional(static_cast<double>((*window)[0] * (*window)[1]));
}

/// Terms of one sum: what the inputs hold against what comes out.
double termsOf(const OpAttributes& attributes, llvm::ArrayRef<Literal> operands, const Literal& expected) {
  if (const auto* matmul = attributes.getIf<ops::Matmul>()) {
    const Shape& a = operands[0].type().shape;
    return static_cast<double>(a[a.rank() - (matmul->transposeA ? 2 : 1)]);
  }
  if (const auto* running = attributes.getIf<ops::CumSum>()) {
    const Shape& shape = operands[0].type().shape;
    return static_cast<double>(shape[*normalAxis(running->axis, shape.rank())]);
  }
  if (const std::optional<double> terms = windowTerms(attributes, operands)) {
    return *terms;
  }
  return static_cast<double>(operands[0].type().shape.elements()) /
         static_cast<double>(std::max<int64_t>(expected.type().shape.elements(), 1));
}

/// What rounding the factors of a product may add to it, relative to its magnitude: each to 10 bits behind
/// the point, in any direction.
double factorError(const OpAttributes& attributes, ElementType type) {
  const auto* matmul = attributes.getIf<ops::Matmul>();
  const bool rounds =
      matmul != nullptr && type == ElementType::F32 && matmul->precision == ops::Precision::Tf32;
  return rounds ? 2 * 0x1p-10 * (1 + 0x1p-10) : 0;
}

} // namespace

Bound sumBound(const OpAttributes& attributes, llvm::ArrayRef<Literal> operands, const Literal& expected) {
  const ElementType type = expected.type().element;
  if (!isFloat(type)) {
    return {};
  }
  std::vector<Literal> positive;
  for (const Literal& operand : operands) {
    positive.push_back(magnitudes(operand));
  }
  if (kindOf(attributes) == OpKind::MaxPoolGradient) {
    positive[0] = operands[0]; // it says where the maxima are
  }
  const Literal total = evaluateOp(attributes, positive)[0];
  const double unit = accumulatorEpsilon(type) * (termsOf(attributes, operands, expected) + 2) +
                      factorError(attributes, type);
  return {1, [=](int64_t i) { return unit * total.at(i); }};
}

namespace {

/// The error of the arithmetic, and once more that of the result's type where that is narrower.
Bound formulaBound(const OpAttributes& attributes, llvm::ArrayRef<Literal> operands,
                   const Literal& expected) {
  if (isExact(kindOf(attributes))) {
    return {};
  }
  const ElementType compute = accumulatorType(expected.type().element);
  return {1, [=, &expected, variant = variantOf(attributes), kind = kindOf(attributes)](int64_t i) {
            return formulaError(kind, variant, operandsAt(operands, expected.type().shape, i), compute);
          }};
}

// A normalised element is at most the root of the row's length; the row's sums are carried in f32 or f64 by
// trees that are no deeper than 64.
double normTolerance(llvm::ArrayRef<Literal> operands, const Literal& expected) {
  const double row = std::sqrt(static_cast<double>(operands[1].type().shape.elements()));
  return 64 * accumulatorEpsilon(expected.type().element) * (largestMagnitude({operands[1]}) * row + 1);
}

/// By row: how many times the deviation from the mean goes into the largest element. What the mean is rounded
/// by is that much more of a deviation.
std::vector<double> deviationsWithinLargest(const Literal& a, int64_t row, double epsilon) {
  std::vector<double> ratios;
  for (int64_t begin = 0; row > 0 && begin < a.type().shape.elements(); begin += row) {
    double sum = 0, squares = 0, largest = 0;
    for (int64_t i = begin; i < begin + row; ++i) {
      sum += a.at(i);
      largest = std::max(largest, std::fabs(a.at(i)));
    }
    for (int64_t i = begin; i < begin + row; ++i) {
      const double deviation = a.at(i) - sum / static_cast<double>(row);
      squares += deviation * deviation;
    }
    const double ratio = largest / std::sqrt(squares / static_cast<double>(row) + epsilon);
    ratios.push_back(std::isfinite(ratio) ? ratio : 0);
  }
  return ratios;
}

Bound layerNormBound(const ops::LayerNorm& op, llvm::ArrayRef<Literal> operands, const Literal& expected) {
  const int64_t row = operands[1].type().shape.elements();
  const double absolute = normTolerance(operands, expected);
  const double ofMean = 4 * accumulatorEpsilon(expected.type().element) * largestMagnitude({operands[1]});
  auto ratios = deviationsWithinLargest(operands[0], row, op.epsilon);
  return {2, [=, ratios = std::move(ratios)](int64_t i) {
            return absolute + ofMean * ratios[static_cast<size_t>(i / row)];
          }};
}

// Sums in f32 of terms that are at most |a| times the largest integer and the largest scale.
Bound quantizedBound(const ops::QuantizedMatmul& op, llvm::ArrayRef<Literal> operands,
                     const Literal& expected) {
  const Shape& a = operands[0].type().shape;
  const int64_t inner = a[a.rank() - 1], columns = operands[1].type().shape[0];
  const double unit = accumulatorEpsilon(expected.type().element) * static_cast<double>(inner + 4) *
                      static_cast<double>(op.zero()) * largestMagnitude({operands[2]});
  return {1, [=, a = operands[0]](int64_t i) {
            double sum = 0;
            for (int64_t k = 0; k < inner; ++k) {
              sum += std::fabs(a.at(i / columns * inner + k));
            }
            return unit * sum;
          }};
}

Bound rmsNormBound(llvm::ArrayRef<Literal> operands, const Literal& expected) {
  return {2, [absolute = normTolerance(operands, expected)](int64_t) { return absolute; }};
}

} // namespace

Bound boundFor(const OpAttributes& attributes, llvm::ArrayRef<Literal> operands, const Literal& expected,
               size_t result) {
  if (!isFloat(expected.type().element)) {
    return {}; // to the bit, whatever the op
  }
  if (formulaOf(kindOf(attributes)) != nullptr) {
    return formulaBound(attributes, operands, expected);
  }
  const double epsilon = epsilonOf(expected.type().element);
  switch (kindOf(attributes)) {
  case OpKind::Matmul:
  case OpKind::ReduceSum:
  case OpKind::ReduceMean:
  case OpKind::CumSum: return sumBound(attributes, operands, expected);
  case OpKind::ReduceProduct: // carried in f64
    return {1 + (epsilon == 0x1p-52 ? termsOf(attributes, operands, expected) : 0),
            [](int64_t) { return 0.0; }};
  case OpKind::QuantizedMatmul:
    return quantizedBound(attributes.as<ops::QuantizedMatmul>(), operands, expected);
  case OpKind::LayerNorm: return layerNormBound(attributes.as<ops::LayerNorm>(), operands, expected);
  case OpKind::RmsNorm: return rmsNormBound(operands, expected);
  case OpKind::LayerNormGradient: {
    const auto& op = attributes.as<ops::LayerNormGradient>();
    return normGradientBound({op.axis, op.epsilon, true, op.toScale, op.toBias}, operands, result);
  }
  case OpKind::RmsNormGradient: {
    const auto& op = attributes.as<ops::RmsNormGradient>();
    return normGradientBound({op.axis, op.epsilon, false, op.toScale, false}, operands, result);
  }
  case OpKind::Conv2d:
  case OpKind::Conv2dInputGradient:
  case OpKind::Conv2dFilterGradient:
  case OpKind::MaxPoolGradient:
  case OpKind::AveragePool:
  case OpKind::AveragePoolGradient: return sumBound(attributes, operands, expected);
  case OpKind::BatchNorm: return batchNormBound(attributes.as<ops::BatchNorm>(), operands);
  case OpKind::BatchNormTraining:
    return batchNormBound(attributes.as<ops::BatchNormTraining>(), operands, result);
  case OpKind::BatchNormPass: return batchNormBound(attributes.as<ops::BatchNormPass>(), operands);
  case OpKind::BatchNormGradientPass:
    return batchNormBound(attributes.as<ops::BatchNormGradientPass>(), operands, result);
  case OpKind::BatchNormSums: return batchNormBound(attributes.as<ops::BatchNormSums>(), operands);
  case OpKind::BatchNormGradient:
    return batchNormBound(attributes.as<ops::BatchNormGradient>(), operands, result);
  case OpKind::Attention: return attentionBound(attributes.as<ops::Attention>(), operands, result);
  case OpKind::AttentionGradient:
    return attentionBound(attributes.as<ops::AttentionGradient>(), operands, result);
  case OpKind::Exp:
  case OpKind::Log:
  case OpKind::Tanh:
  case OpKind::Pow:
  case OpKind::Sin:
  case OpKind::Cos:
  case OpKind::Erf: return {4, [](int64_t) { return 0.0; }};
  case OpKind::Softmax:
  case OpKind::LogSoftmax:
  case OpKind::SoftmaxCrossEntropy:
  case OpKind::SoftmaxCrossEntropyGradient: {
    // exp(x - max) carries the rounding of x - max as a relative error; logarithms carry it as it is, and the
    // error of the sum: a thread of a block adds no more than a 128th of a row one after another.
    const Shape& shape = operands[0].type().shape;
    const double inTurn = static_cast<double>(shape[shape.rank() - 1]) / 128;
    const double scale = (8 + inTurn) * epsilon * (1 + largestMagnitude(operands));
    return {4, [=](int64_t) { return scale; }};
  }
  default: return {}; // to the bit
  }
}

} // namespace dfc::test
