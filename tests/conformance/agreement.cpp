// Error bounds by op. With u the unit roundoff of the accumulator, a sum of n terms in any order is off by at
// most (n - 1) u sum|terms| to first order (Higham, Accuracy and Stability of Numerical Algorithms, 4.2); f16
// and bf16 accumulate in f32. On top of that every bound allows roundings to the result's own type.
#include "tests/conformance/agreement.h"

#include "compiler/analysis/evaluate.h"
#include "ir/op_rules.h"
#include "tests/support/random_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace dfc::test {
namespace {

/// Distance from 1 to the next number.
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

/// The least number above 0.
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

/// How an op's result may differ: `ulps` of its own type at the value, plus `absolute` by element.
struct Bound {
  double ulps = 0;
  std::function<double(int64_t)> absolute = [](int64_t) { return 0.0; };
};

/// Terms of one sum: what the inputs hold against what comes out.
double termsOf(const OpAttributes& attributes, llvm::ArrayRef<Literal> operands, const Literal& expected) {
  if (const auto* matmul = std::get_if<ops::Matmul>(&attributes)) {
    const Shape& a = operands[0].type().shape;
    return static_cast<double>(a[a.rank() - (matmul->transposeA ? 2 : 1)]);
  }
  if (const auto* running = std::get_if<ops::CumSum>(&attributes)) {
    const Shape& shape = operands[0].type().shape;
    return static_cast<double>(shape[*normalAxis(running->axis, shape.rank())]);
  }
  return static_cast<double>(operands[0].type().shape.elements()) /
         static_cast<double>(std::max<int64_t>(expected.type().shape.elements(), 1));
}

/// What rounding the factors of a product may add to it, relative to its magnitude: each to 10 bits behind
/// the point, in any direction.
double factorError(const OpAttributes& attributes, ElementType type) {
  const auto* matmul = std::get_if<ops::Matmul>(&attributes);
  const bool rounds =
      matmul != nullptr && type == ElementType::F32 && matmul->precision == ops::Precision::Tf32;
  return rounds ? 2 * 0x1p-10 * (1 + 0x1p-10) : 0;
}

Bound sumBound(const OpAttributes& attributes, llvm::ArrayRef<Literal> operands, const Literal& expected) {
  const ElementType type = expected.type().element;
  if (!isFloat(type)) {
    return {};
  }
  std::vector<Literal> positive;
  for (const Literal& operand : operands) {
    positive.push_back(magnitudes(operand));
  }
  const Literal total = evaluateOp(attributes, positive)[0];
  const double unit = accumulatorEpsilon(type) * (termsOf(attributes, operands, expected) + 2) +
                      factorError(attributes, type);
  return {1, [=](int64_t i) { return unit * total.at(i); }};
}

/// What a times a share that is subnormal, and off by one, is off by.
std::function<double(int64_t)> subnormalFactor(const Literal& a) {
  return [&a, least = smallestOf(accumulatorType(a.type().element))](int64_t i) {
    return std::isfinite(a.at(i)) ? std::fabs(a.at(i)) * least : 0.0;
  };
}

/// Our own is good to 7 ulps, that of CUDA to 5 and a product. The tanh form raises e to the power 2 x, whose
/// roundings (five at most, each of half an epsilon) it carries as a relative error.
Bound geluBound(const ops::Gelu& op, const Literal& a, const Literal& expected) {
  const auto subnormal = subnormalFactor(a);
  if (op.approximate == ops::Gelu::Approximation::None) {
    return {8, subnormal};
  }
  return {4, [=, &a, &expected](int64_t i) {
            const double x = 2 * 0.79788456 * std::fabs(a.at(i)) * (1 + 0.044715 * a.at(i) * a.at(i));
            const double result = std::fabs(expected.at(i));
            const double carried =
                result == 0 ? 0 : x * epsilonOf(accumulatorType(a.type().element)) * result;
            return subnormal(i) + (std::isfinite(carried) ? 2.5 * carried : 0);
          }};
}

// A normalised element is at most the root of the row's length; the row's sums are carried in f32 or f64 by
// trees that are no deeper than 64.
Bound normBound(llvm::ArrayRef<Literal> operands, const Literal& expected) {
  const double row = std::sqrt(static_cast<double>(operands[1].type().shape.elements()));
  const double absolute =
      64 * accumulatorEpsilon(expected.type().element) * (largestMagnitude({operands[1]}) * row + 1);
  return {2, [=](int64_t) { return absolute; }};
}

Bound boundFor(const OpAttributes& attributes, llvm::ArrayRef<Literal> operands, const Literal& expected) {
  const double epsilon = epsilonOf(expected.type().element);
  switch (kindOf(attributes)) {
  case OpKind::Matmul:
  case OpKind::ReduceSum:
  case OpKind::ReduceMean:
  case OpKind::CumSum: return sumBound(attributes, operands, expected);
  case OpKind::ReduceProduct: // carried in f64
    return {1 + (epsilon == 0x1p-52 ? termsOf(attributes, operands, expected) : 0),
            [](int64_t) { return 0.0; }};
  case OpKind::LayerNorm:
  case OpKind::RmsNorm: return normBound(operands, expected);
  case OpKind::Exp:
  case OpKind::Log:
  case OpKind::Tanh:
  case OpKind::Sigmoid:
  case OpKind::Pow:
  case OpKind::Rsqrt:
  case OpKind::Sin:
  case OpKind::Cos:
  case OpKind::Erf:
  case OpKind::Softplus: return {4, [](int64_t) { return 0.0; }};
  case OpKind::Silu: return {4, subnormalFactor(operands[0])};
  case OpKind::Gelu: return geluBound(std::get<ops::Gelu>(attributes), operands[0], expected);
  case OpKind::Softmax:
  case OpKind::LogSoftmax:
  case OpKind::SoftmaxCrossEntropy:
  case OpKind::SoftmaxCrossEntropyGradient: {
    // exp(x - max) carries the rounding of x - max as a relative error; logarithms carry it as it is.
    const double scale = 8 * epsilon * (1 + largestMagnitude(operands));
    return {4, [=](int64_t) { return scale; }};
  }
  default: return {}; // to the bit
  }
}

/// How far element `i` of a float result may be off.
double allowedAt(const Bound& bound, const Literal& expected, int64_t i) {
  const ElementType type = expected.type().element;
  return bound.ulps * std::max(epsilonOf(type) * std::fabs(expected.at(i)), smallestOf(type)) +
         bound.absolute(i);
}

/// The epilogue's results for a product at the lower end of its bound, in the middle and at the upper end.
std::vector<Literal> epilogueResults(const ops::FusedMatmul& op, llvm::ArrayRef<Literal> operands) {
  const llvm::ArrayRef<Literal> factors = operands.take_front(2);
  const Literal product = evaluateOp(op.product(), factors)[0];
  const Bound bound = sumBound(op.product(), factors, product);
  std::vector<Literal> results;
  for (const double side : {-1.0, 0.0, 1.0}) {
    Literal moved = product;
    for (int64_t i = 0; isFloat(product.type().element) && i < product.type().shape.elements(); ++i) {
      moved.set(i, product.at(i) + side * allowedAt(bound, product, i));
    }
    std::vector<Literal> inputs{moved};
    inputs.insert(inputs.end(), operands.begin() + 2, operands.end());
    results.push_back(evaluateOp(op.epilogue(), inputs)[0]);
  }
  return results;
}

/// The product may be anywhere within its bound, and the epilogue goes along: right for one that rises or
/// falls throughout there, which is all that is asked of it here. Its own transcendental functions may err by
/// 4 ulps.
std::string fusedDisagreement(const ops::FusedMatmul& op, llvm::ArrayRef<Literal> operands,
                              const Literal& actual) {
  const std::vector<Literal> results = epilogueResults(op, operands);
  for (int64_t i = 0; i < actual.type().shape.elements(); ++i) {
    const auto [least, most] = std::minmax({results[0].at(i), results[1].at(i), results[2].at(i)});
    const double got = actual.at(i), slack = allowedAt({4}, results[1], i);
    const bool same = std::isnan(results[1].at(i)) && std::isnan(got);
    if (!same && !(got >= least - slack && got <= most + slack)) {
      return fmt::format("element {}: expected {} to {}, got {}", i, least, most, got);
    }
  }
  return "";
}

} // namespace

std::string disagreement(const OpAttributes& attributes, llvm::ArrayRef<Literal> operands,
                         const Literal& expected, const Literal& actual) {
  if (bitDifference(expected, actual).empty()) {
    return "";
  }
  const auto* fused = std::get_if<ops::FusedMatmul>(&attributes);
  if (fused != nullptr && actual.type() == expected.type()) {
    return fusedDisagreement(*fused, operands, actual);
  }
  const Bound bound = boundFor(attributes, operands, expected);
  if (bound.ulps == 0 || actual.type() != expected.type()) {
    return bitDifference(expected, actual);
  }
  for (int64_t i = 0; i < expected.type().shape.elements(); ++i) {
    const double want = expected.at(i);
    const double got = actual.at(i);
    const bool same = want == got || (std::isnan(want) && std::isnan(got));
    const double allowed = allowedAt(bound, expected, i);
    if (!same && !(std::fabs(want - got) <= allowed)) {
      return fmt::format("element {}: expected {}, got {}, off by {} where {} is allowed", i, want, got,
                         std::fabs(want - got), allowed);
    }
  }
  return "";
}

} // namespace dfc::test
