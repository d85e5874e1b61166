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

/// The norm's result, with the addend and the relu that follow; operands: a, scale and bias.
template <class Op>
Literal normalised(const Op& op, const ByChannel& by, Operands operands, const Literal* addend,
                   const Numbers& mean, const Numbers& variance) {
  const Numbers scale = numbersOf(operands[1]), bias = numbersOf(operands[2]);
  return by.tensor([&](int64_t at, size_t c) {
    const double added = addend != nullptr ? load(*addend, at).real : 0;
    const double sum = normal(load(operands[0], at).real, c, scale, bias, mean, variance, op.epsilon) + added;
    return op.relu && sum <= 0 ? 0 : sum; // NaN stays
  });
}

/// A row of sums.
Numbers rowOf(const Literal& sums, int64_t row) {
  const Numbers all = numbersOf(sums);
  const auto half = static_cast<ptrdiff_t>(all.size() / 2);
  return {all.begin() + row * half, all.begin() + (row + 1) * half};
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
  const Literal* addend = operands.size() == 4 ? &operands[3] : nullptr;
  const Literal result = normalised(op, by, operands, addend, mean, variance);
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

Literal batchNormPass(const ops::BatchNormPass& op, Operands operands) {
  Numbers mean = rowOf(operands[3], 0), variance = rowOf(operands[3], 1);
  const auto n = static_cast<double>(op.count);
  for (size_t c = 0; c < mean.size(); ++c) {
    mean[c] /= n;
    variance[c] = variance[c] / n - mean[c] * mean[c];
    variance[c] = variance[c] < 0 ? 0 : variance[c];
  }
  const Literal* addend = operands.size() == 5 ? &operands[4] : nullptr;
  return normalised(op, ByChannel(operands[0].type(), op.axis), operands, addend, mean, variance);
}

Literals batchNormGradientPass(const ops::BatchNormGradientPass& op, Operands operands) {
  const ByChannel by(operands[0].type(), op.axis);
  const Numbers scale = numbersOf(operands[1]), mean = numbersOf(operands[2]),
                variance = numbersOf(operands[3]);
  const Numbers ofG = rowOf(operands[5], 0), ofProducts = rowOf(operands[5], 1);
  const auto n = static_cast<double>(op.count);
  const auto cotangent = [&](int64_t at) {
    return op.relu && !(load(operands[6], at).real > 0) ? 0 : load(operands[4], at).real;
  };
  Literals results = {by.tensor([&](int64_t at, size_t c) {
    const double root = 1 / std::sqrt(variance[c] + op.epsilon);
    const double x = (load(operands[0], at).real - mean[c]) * root;
    return scale[c] * root * (cotangent(at) - (ofG[c] + x * ofProducts[c] * root) / n);
  })};
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
