// How far batch normalisations may be from the evaluator's: their sums are carried in f64, everything else is
// a few roundings of the accumulator, relative to the magnitudes that meet.
#include "compiler/interpreter/evaluate.h"
#include "ir/graph/rules/batch_norm_rules.h"
#include "tests/conformance/bounds.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace dfc::test {
namespace {

using Numbers = std::vector<double>;

/// A tensor by channels.
class ByChannel {
 public:
  ByChannel(const TensorType& a, int64_t axis) : channels_(a.shape, axis), count_(a.shape.elements()) {}
  size_t of(int64_t i) const { return static_cast<size_t>(i / channels_.inner % channels_.channels); }
  double elements() const { return static_cast<double>(channels_.elements()); }
  template <class Term>
  Numbers sum(const Term& term) const {
    Numbers sums(static_cast<size_t>(channels_.channels));
    for (int64_t i = 0; i < count_; ++i) {
      sums[of(i)] += term(i);
    }
    return sums;
  }

 private:
  Channels channels_;
  int64_t count_;
};

/// What a sum of a channel in f64 may be off by, relative to the sum of its terms' magnitudes.
double sumUnit(const ByChannel& by) { return (by.elements() + 4) * 0x1p-52; }

/// A difference, a product with a rounded factor and a sum, each of which rounds once.
double normalUnit(const Literal& a) { return 4 * accumulatorEpsilon(a.type().element); }

Bound byChannel(Numbers absolute) {
  return {1, [absolute = std::move(absolute)](int64_t c) { return absolute[static_cast<size_t>(c)]; }};
}

} // namespace

Bound batchNormBound(const ops::BatchNorm& op, llvm::ArrayRef<Literal> operands) {
  const ByChannel by(operands[0].type(), op.axis);
  const double unit = normalUnit(operands[0]);
  const std::vector<Literal> given(operands.begin(), operands.end());
  return {1, [=](int64_t i) {
            const auto c = static_cast<int64_t>(by.of(i));
            const double factor = std::fabs(given[1].at(c)) / std::sqrt(given[4].at(c) + op.epsilon);
            return unit * (std::fabs(given[0].at(i) - given[3].at(c)) * factor + std::fabs(given[2].at(c)));
          }};
}

Bound batchNormBound(const ops::BatchNormTraining& op, llvm::ArrayRef<Literal> operands, size_t result) {
  const Literal& a = operands[0];
  const ByChannel by(a.type(), op.axis);
  const double n = by.elements(), sums = sumUnit(by), unit = normalUnit(a);
  Numbers mean = by.sum([&](int64_t i) { return a.at(i) / n; });
  Numbers size = by.sum([&](int64_t i) { return std::fabs(a.at(i)) / n; });
  // About the channel's first element, which is no farther from the mean than the spread of all.
  Numbers variance = by.sum([&](int64_t i) { return std::pow(a.at(i) - mean[by.of(i)], 2) / n; });
  Numbers ofMean(size.size()), ofVariance(size.size());
  for (size_t c = 0; c < size.size(); ++c) {
    ofMean[c] = sums * size[c];
    ofVariance[c] = sums * (4 * n * variance[c] + std::pow(ofMean[c], 2));
  }
  if (result != 0) {
    return byChannel(result == 1 ? ofMean : ofVariance);
  }
  const std::vector<Literal> given(operands.begin(), operands.end());
  return {1, [=](int64_t i) {
            const size_t c = by.of(i);
            const auto at = static_cast<int64_t>(c);
            const double inverse = 1 / (variance[c] + op.epsilon);
            const double factor = std::fabs(given[1].at(at)) * std::sqrt(inverse);
            const double off = std::fabs(given[0].at(i) - mean[c]);
            return factor * (off * (unit + ofVariance[c] * inverse) + ofMean[c] * (1 + unit)) +
                   unit * std::fabs(given[2].at(at));
          }};
}

Bound batchNormBound(const ops::BatchNormPass& op, llvm::ArrayRef<Literal> operands) {
  const ByChannel by(operands[0].type(), op.axis);
  const double unit = normalUnit(operands[0]), n = static_cast<double>(op.count);
  const std::vector<Literal> given(operands.begin(), operands.end());
  const int64_t channels = given[1].type().shape[0];
  return {1, [=](int64_t i) {
            const auto c = static_cast<int64_t>(by.of(i));
            const double mean = given[3].at(c) / n, squares = given[3].at(channels + c) / n;
            const double variance = std::max(squares - mean * mean, 0.0);
            const double inverse = 1 / (variance + op.epsilon);
            // The variance may nearly cancel.
            const double ofVariance = 0x1p-50 * (std::fabs(squares) + mean * mean) * inverse;
            const double factor = std::fabs(given[1].at(c)) * std::sqrt(inverse);
            return factor * std::fabs(given[0].at(i) - mean) * (unit + ofVariance) +
                   unit * std::fabs(given[2].at(c));
          }};
}

Bound batchNormBound(const ops::BatchNormGradientPass& op, llvm::ArrayRef<Literal> operands, size_t result) {
  const ByChannel by(operands[0].type(), op.axis);
  const double unit = result == 0 ? normalUnit(operands[0]) : 0, n = static_cast<double>(op.count);
  const std::vector<Literal> given(operands.begin(), operands.end());
  const int64_t channels = given[1].type().shape[0];
  return {1, [=](int64_t i) {
            const auto c = static_cast<int64_t>(by.of(i));
            const double root = 1 / std::sqrt(given[3].at(c) + op.epsilon);
            const double x = std::fabs(given[0].at(i) - given[2].at(c)) * root;
            const double shared =
                (std::fabs(given[5].at(c)) + x * std::fabs(given[5].at(channels + c)) * root) / n;
            return 2 * unit * std::fabs(given[1].at(c)) * root * (std::fabs(given[4].at(i)) + shared);
          }};
}

Bound batchNormBound(const ops::BatchNormSums& op, llvm::ArrayRef<Literal> operands) {
  const Literal& a = operands[0];
  const ByChannel by(a.type(), op.axis);
  // The difference from the mean rounds, too.
  const double sums = 2 * sumUnit(by);
  const auto g = [&](int64_t i) { return std::fabs(operands[2].at(i)); };
  const bool ofGradient = operands.size() > 1;
  Numbers sizes = by.sum([&](int64_t i) { return sums * (ofGradient ? g(i) : std::fabs(a.at(i))); });
  const Numbers second = by.sum([&](int64_t i) {
    const double mean = ofGradient ? operands[1].at(static_cast<int64_t>(by.of(i))) : 0;
    return sums * (ofGradient ? g(i) * (std::fabs(a.at(i)) + std::fabs(mean)) : a.at(i) * a.at(i));
  });
  sizes.insert(sizes.end(), second.begin(), second.end());
  return byChannel(std::move(sizes));
}

Bound batchNormBound(const ops::BatchNormGradient& op, llvm::ArrayRef<Literal> operands, size_t result) {
  const Literal &a = operands[0], &scale = operands[1], &mean = operands[2], &cotangent = operands[4];
  const ByChannel by(a.type(), op.axis);
  const double n = by.elements(), sums = sumUnit(by), unit = normalUnit(a) + sums;
  const auto off = [by, given = a, mean](int64_t i) {
    return std::fabs(given.at(i) - mean.at(static_cast<int64_t>(by.of(i))));
  };
  Numbers root(static_cast<size_t>(scale.type().shape.elements()));
  for (size_t c = 0; c < root.size(); ++c) {
    root[c] = 1 / std::sqrt(operands[3].at(static_cast<int64_t>(c)) + op.epsilon);
  }
  Numbers ofScale = by.sum([&](int64_t i) { return std::fabs(cotangent.at(i)) * off(i) * root[by.of(i)]; });
  Numbers ofBias = by.sum([&](int64_t i) { return std::fabs(cotangent.at(i)); });
  if (result != 0) {
    Numbers& sum = result == 1 ? ofScale : ofBias;
    std::for_each(sum.begin(), sum.end(), [&](double& number) { number *= sums; });
    return byChannel(std::move(sum));
  }
  return {1, [=, cotangent = cotangent, scale = scale](int64_t i) {
            const size_t c = by.of(i);
            const double factor = std::fabs(scale.at(static_cast<int64_t>(c))) * root[c];
            const double shared = (ofBias[c] + off(i) * root[c] * ofScale[c]) / n;
            return 2 * unit * factor * (std::fabs(cotangent.at(i)) + shared);
          }};
}

} // namespace dfc::test
