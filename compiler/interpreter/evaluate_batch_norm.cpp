// Batch normalisation by its formulas: sums in double, each result rounded once.
#include "compiler/interpreter/evaluate_parts.h"

#include "ir/graph/rules/batch_norm_rules.h"

#include <cmath>
#include <vector>

namespace dfc::evaluation {
namespace {

using Numbers = std::vector<double>;

Numbers numbersOf(const Literal& vector) {
  Numbers numbers;
  for (int64_t i = 0; i < vector.type().shape.elements(); ++i) {
    numbers.push_back(load(vector, i).real);
  }
  return numbers;
}

Literal vectorOf(const TensorType& type, const Numbers& numbers) {
  Literal literal(type);
  for (size_t i = 0; i < numbers.size(); ++i) {
    store(literal, static_cast<int64_t>(i), rounded(type.element, numbers[i]));
  }
  return literal;
}

// A tensor by channels: each element with its channel.
class ByChannel {
 public:
  ByChannel(const TensorType& type, int64_t axis) : type_(type), channels_(type.shape, axis) {}

  double elements() const { return static_cast<double>(channels_.elements()); }
  template <class Visit>
  void forEach(Visit visit) const {
    for (int64_t at = 0; at < type_.shape.elements(); ++at) {
      visit(at, static_cast<size_t>(at / channels_.inner % channels_.channels));
    }
  }
  template <class Term>
  Numbers sum(Term term) const {
    Numbers sums(static_cast<size_t>(channels_.channels));
    forEach([&](int64_t at, size_t channel) { sums[channel] += term(at, channel); });
    return sums;
  }
  template <class Value>
  Literal tensor(Value value) const {
    Literal literal(type_);
    forEach(
        [&](int64_t at, size_t channel) { store(literal, at, rounded(type_.element, value(at, channel))); });
    return literal;
  }

 private:
  TensorType type_;
  Channels channels_;
};

double normal(double a, size_t c, const Numbers& scale, const Numbers& bias, const Numbers& mean,
              const Numbers& variance, double epsilon) {
  return (a - mean[c]) / std::sqrt(variance[c] + epsilon) * scale[c] + bias[c];
}

} // namespace

Literal batchNorm(const ops::BatchNorm& op, Operands operands, const TensorType& type) {
  const Numbers scale = numbersOf(operands[1]), bias = numbersOf(operands[2]), mean = numbersOf(operands[3]),
                variance = numbersOf(operands[4]);
  return ByChannel(type, op.axis).tensor([&](int64_t at, size_t c) {
    return normal(load(operands[0], at).real, c, scale, bias, mean, variance, op.epsilon);
  });
}

Literals batchNormTraining(const ops::BatchNormTraining& op, Operands operands) {
  const Literal& a = operands[0];
  const TensorType vector = operands[1].type();
  const ByChannel by(a.type(), op.axis);
  Numbers mean = by.sum([&](int64_t at, size_t) { return load(a, at).real; });
  for (double& number : mean) {
    number /= by.elements();
  }
  Numbers variance = by.sum([&](int64_t at, size_t c) {
    const double off = load(a, at).real - mean[c];
    return off * off;
  });
  for (double& number : variance) {
    number /= by.elements();
  }
  const Numbers scale = numbersOf(operands[1]), bias = numbersOf(operands[2]);
  const Literal result = by.tensor([&](int64_t at, size_t c) {
    const double addend = operands.size() == 4 ? load(operands[3], at).real : 0;
    const double sum = normal(load(a, at).real, c, scale, bias, mean, variance, op.epsilon) + addend;
    return op.relu && sum <= 0 ? 0 : sum; // NaN stays
  });
  return {result, vectorOf(vector, mean), vectorOf(vector, variance)};
}

Literals batchNormGradient(const ops::BatchNormGradient& op, Operands operands) {
  const Literal& a = operands[0];
  const auto cotangent = [&](int64_t at) {
    return op.relu && !(load(operands[5], at).real > 0) ? 0 : load(operands[4], at).real;
  };
  const TensorType vector = operands[1].type();
  const ByChannel by(a.type(), op.axis);
  const Numbers scale = numbersOf(operands[1]), mean = numbersOf(operands[2]),
                variance = numbersOf(operands[3]);
  const auto root = [&](size_t c) { return 1 / std::sqrt(variance[c] + op.epsilon); };
  const auto x = [&](int64_t at, size_t c) { return (load(a, at).real - mean[c]) * root(c); };
  const Numbers ofBias = by.sum([&](int64_t at, size_t) { return cotangent(at); });
  const Numbers ofScale = by.sum([&](int64_t at, size_t c) { return cotangent(at) * x(at, c); });
  const Literal ofA = by.tensor([&](int64_t at, size_t c) {
    const double shared = (ofBias[c] + x(at, c) * ofScale[c]) / by.elements();
    return scale[c] * root(c) * (cotangent(at) - shared);
  });
  Literals results = {ofA, vectorOf(vector, ofScale), vectorOf(vector, ofBias)};
  if (op.addend) {
    results.push_back(by.tensor([&](int64_t at, size_t) { return cotangent(at); }));
  }
  return results;
}

Literal batchNormSums(const ops::BatchNormSums& op, Operands operands, const TensorType& type) {
  const Literal& a = operands[0];
  const ByChannel by(a.type(), op.axis);
  const auto x = [&](int64_t at) { return load(a, at).real; };
  Numbers sums, second;
  if (operands.size() == 1) {
    sums = by.sum([&](int64_t at, size_t) { return x(at); });
    second = by.sum([&](int64_t at, size_t) { return x(at) * x(at); });
  } else {
    const Numbers mean = numbersOf(operands[1]);
    const auto g = [&](int64_t at) {
      return op.relu && !(load(operands[3], at).real > 0) ? 0 : load(operands[2], at).real;
    };
    sums = by.sum([&](int64_t at, size_t) { return g(at); });
    second = by.sum([&](int64_t at, size_t c) { return g(at) * (x(at) - mean[c]); });
  }
  sums.insert(sums.end(), second.begin(), second.end());
  return vectorOf(type, sums);
}

} // namespace dfc::evaluation
