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

Literal normalised(const ByChannel& by, const Literal& a, const Numbers& scale, const Numbers& bias,
                   const Numbers& mean, const Numbers& variance, double epsilon) {
  return by.tensor([&](int64_t at, size_t c) {
    return (load(a, at).real - mean[c]) / std::sqrt(variance[c] + epsilon) * scale[c] + bias[c];
  });
}

} // namespace

Literal batchNorm(const ops::BatchNorm& op, Operands operands, const TensorType& type) {
  return normalised(ByChannel(type, op.axis), operands[0], numbersOf(operands[1]), numbersOf(operands[2]),
                    numbersOf(operands[3]), numbersOf(operands[4]), op.epsilon);
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
  return {normalised(by, a, numbersOf(operands[1]), numbersOf(operands[2]), mean, variance, op.epsilon),
          vectorOf(vector, mean), vectorOf(vector, variance)};
}

Literals batchNormGradient(const ops::BatchNormGradient& op, Operands operands) {
  const Literal &a = operands[0], &cotangent = operands[4];
  const TensorType vector = operands[1].type();
  const ByChannel by(a.type(), op.axis);
  const Numbers scale = numbersOf(operands[1]), mean = numbersOf(operands[2]),
                variance = numbersOf(operands[3]);
  const auto root = [&](size_t c) { return 1 / std::sqrt(variance[c] + op.epsilon); };
  const auto x = [&](int64_t at, size_t c) { return (load(a, at).real - mean[c]) * root(c); };
  const Numbers ofBias = by.sum([&](int64_t at, size_t) { return load(cotangent, at).real; });
  const Numbers ofScale = by.sum([&](int64_t at, size_t c) { return load(cotangent, at).real * x(at, c); });
  const Literal ofA = by.tensor([&](int64_t at, size_t c) {
    const double shared = (ofBias[c] + x(at, c) * ofScale[c]) / by.elements();
    return scale[c] * root(c) * (load(cotangent, at).real - shared);
  });
  return {ofA, vectorOf(vector, ofScale), vectorOf(vector, ofBias)};
}

} // namespace dfc::evaluation
