#include "tests/support/attention/attention_reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace dfc::test {
namespace {

using cuda::AttentionProblem;
using Numbers = std::vector<double>;
constexpr double infinity = std::numeric_limits<double>::infinity();

Numbers numbersOf(const Literal& literal) {
  Numbers numbers(static_cast<size_t>(literal.type().shape.elements()));
  for (size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = literal.at(static_cast<int64_t>(i));
  }
  return numbers;
}

Literal uniform(const TensorType& type, Dice& dice) {
  Literal literal(type);
  for (int64_t i = 0; i < type.shape.elements(); ++i) {
    literal.set(i, 4 * dice.unit() - 2);
  }
  return literal;
}

double lastPlace(const AttentionProblem& problem) {
  return problem.element == ElementType::BF16                  ? 0x1p-8
         : problem.element == ElementType::F16 || problem.tf32 ? 0x1p-10
                                                               : 0x1p-20;
}

/// One query head with its key head.
class Head {
 public:
  Head(AttentionExample& example, const Numbers& q, const Numbers& k, const Numbers& v,
       const Numbers& cotangent, int64_t batch, int64_t head)
      : e_(example), p_(example.problem), q_(q), k_(k), v_(v), cotangent_(cotangent), batch_(batch),
        head_(head), row0_((batch * p_.heads + head) * p_.queries),
        key0_((batch * p_.keyHeads + head / (p_.heads / p_.keyHeads)) * p_.keys) {}

  void run() {
    for (int64_t i = 0; i < p_.queries; ++i) {
      row(i);
    }
  }

 private:
  bool sees(int64_t i, int64_t j) const {
    if (p_.causal && j > i) {
      return false;
    }
    if (!p_.maskStrides) {
      return true;
    }
    const auto& s = *p_.maskStrides;
    return e_.mask.at(batch_ * s[0] + head_ * s[1] + i * s[2] + j * s[3]) != 0;
  }

  void row(int64_t i) {
    const double unit = lastPlace(p_), ofScores = p_.tf32 ? 0x1p-10 : 0x1p-20;
    Numbers scores(static_cast<size_t>(p_.keys), -infinity);
    double most = -infinity, magnitude = 0;
    for (int64_t j = 0; j < p_.keys; ++j) {
      if (sees(i, j)) {
        double sum = 0, absolute = 0;
        for (int64_t d = 0; d < p_.width; ++d) {
          const double term = at(q_, row0_ + i, p_.width, d) * at(k_, key0_ + j, p_.width, d);
          sum += term, absolute += std::fabs(term);
        }
        scores[j] = sum * p_.scale;
        most = std::max(most, scores[j]);
        magnitude = std::max(magnitude, absolute * std::fabs(p_.scale));
      }
    }
    double total = 0;
    for (const double score : scores) {
      total += most == -infinity ? 0 : std::exp(score - most);
    }
    const double logSumExp = most + std::log(total), error = unit + 2 * ofScores * magnitude + 0x1p-20;
    e_.ofLogSumExp.value[row0_ + i] = logSumExp;
    e_.ofLogSumExp.bound[row0_ + i] = 2 * ofScores * magnitude + 1e-5;
    e_.logSumExp.set(row0_ + i, logSumExp);
    if (most == -infinity) {
      return;
    }
    double delta = 0;
    for (int64_t d = 0; d < p_.valueWidth; ++d) {
      double sum = 0, absolute = 0;
      for (int64_t j = 0; j < p_.keys; ++j) {
        const double term = std::exp(scores[j] - logSumExp) * at(v_, key0_ + j, p_.valueWidth, d);
        sum += term, absolute += std::fabs(term);
      }
      e_.o.value[(row0_ + i) * p_.valueWidth + d] = sum;
      e_.o.bound[(row0_ + i) * p_.valueWidth + d] = 2 * error * absolute + unit * std::fabs(sum) + tiny();
      delta += sum * at(cotangent_, row0_ + i, p_.valueWidth, d);
    }
    e_.delta.set(row0_ + i, delta);
    gradient(i, scores, logSumExp, delta, error);
  }

  void gradient(int64_t i, const Numbers& scores, double logSumExp, double delta, double error) {
    for (int64_t j = 0; j < p_.keys; ++j) {
      const double power = std::exp(scores[j] - logSumExp);
      if (!sees(i, j)) {
        continue;
      }
      double sum = 0, absolute = std::fabs(delta);
      for (int64_t d = 0; d < p_.valueWidth; ++d) {
        const double term = at(cotangent_, row0_ + i, p_.valueWidth, d) * at(v_, key0_ + j, p_.valueWidth, d);
        sum += term, absolute += std::fabs(term);
        const double value = power * at(cotangent_, row0_ + i, p_.valueWidth, d);
        add(e_.dv, (key0_ + j) * p_.valueWidth + d, value, 2 * error);
      }
      const double ds = power * (sum - delta) * p_.scale;
      // Rounding of dp counts, not only of ds.
      const double bound = power * std::fabs(p_.scale) *
                           (2 * error * std::fabs(sum - delta) + (p_.tf32 ? 0x1p-10 : 0x1p-20) * absolute);
      for (int64_t d = 0; d < p_.width; ++d) {
        const double ofQ = at(q_, row0_ + i, p_.width, d), ofK = at(k_, key0_ + j, p_.width, d);
        add(e_.dq, (row0_ + i) * p_.width + d, ds * ofK, 2 * lastPlace(p_), bound * std::fabs(ofK));
        add(e_.dk, (key0_ + j) * p_.width + d, ds * ofQ, 2 * lastPlace(p_), bound * std::fabs(ofQ));
      }
    }
  }

  double tiny() const { return p_.element == ElementType::F16 ? 0x1p-20 : 1e-30; }
  static double at(const Numbers& numbers, int64_t row, int64_t width, int64_t column) {
    return numbers[static_cast<size_t>(row * width + column)];
  }
  void add(ExpectedNumbers& to, int64_t at, double value, double relative, double absolute = 0) const {
    to.value[static_cast<size_t>(at)] += value;
    to.bound[static_cast<size_t>(at)] += relative * std::fabs(value) + absolute + tiny();
  }

  AttentionExample& e_;
  const AttentionProblem& p_;
  const Numbers &q_, &k_, &v_, &cotangent_;
  int64_t batch_, head_, row0_, key0_;
};

} // namespace

std::array<int64_t, 4> maskStrides(const AttentionProblem& problem, std::array<bool, 4> along) {
  const int64_t sizes[] = {problem.batch, problem.heads, problem.queries, problem.keys};
  std::array<int64_t, 4> strides{};
  int64_t stride = 1;
  for (int axis = 3; axis >= 0; --axis) {
    strides[axis] = along[axis] ? stride : 0;
    stride *= along[axis] ? sizes[axis] : 1;
  }
  return strides;
}

AttentionExample::AttentionExample(const AttentionProblem& given, uint64_t seed) : problem(given) {
  Dice dice(seed);
  const auto& p = problem;
  const TensorType ofRows{ElementType::F32, {p.batch, p.heads, p.queries}};
  q = uniform({p.element, {p.batch, p.heads, p.queries, p.width}}, dice);
  k = uniform({p.element, {p.batch, p.keyHeads, p.keys, p.width}}, dice);
  v = uniform({p.element, {p.batch, p.keyHeads, p.keys, p.valueWidth}}, dice);
  cotangent = uniform({p.element, {p.batch, p.heads, p.queries, p.valueWidth}}, dice);
  logSumExp = Literal(ofRows);
  delta = Literal(ofRows);
  if (p.maskStrides) {
    const auto& s = *p.maskStrides;
    const auto along = [&](int axis, int64_t size) { return s[axis] > 0 ? size : int64_t{1}; };
    const Shape shape{along(0, p.batch), along(1, p.heads), along(2, p.queries), along(3, p.keys)};
    mask = Literal(TensorType{ElementType::Bool, shape});
    const int64_t keys = shape[3];
    for (int64_t row = 0; row < shape.elements() / keys; ++row) {
      const int64_t share = dice.oneOf(std::array<int64_t, 4>{0, 30, 80, 100}); // some rows see no key
      for (int64_t j = 0; j < keys; ++j) {
        mask.set(row * keys + j, dice.chance(share) ? 1 : 0);
      }
    }
  }
  const auto sized = [](ExpectedNumbers& numbers, const Literal& like) {
    numbers.value.resize(static_cast<size_t>(like.type().shape.elements()));
    numbers.bound.resize(numbers.value.size());
  };
  sized(o, cotangent), sized(ofLogSumExp, logSumExp), sized(dq, q), sized(dk, k), sized(dv, v);
  const Numbers ofQ = numbersOf(q), ofK = numbersOf(k), ofV = numbersOf(v),
                ofCotangent = numbersOf(cotangent);
  for (int64_t batch = 0; batch < p.batch; ++batch) {
    for (int64_t head = 0; head < p.heads; ++head) {
      Head(*this, ofQ, ofK, ofV, ofCotangent, batch, head).run();
    }
  }
  for (ExpectedNumbers* numbers : {&o, &dq, &dk, &dv}) {
    for (size_t i = 0; i < numbers->value.size(); ++i) {
      numbers->bound[i] += lastPlace(p) * std::fabs(numbers->value[i]) + 1e-6;
    }
  }
}

std::vector<Literal> AttentionExample::operands() const {
  std::vector<Literal> all = {q, k, v};
  if (problem.maskStrides) {
    all.push_back(mask);
  }
  return all;
}

std::vector<Literal> AttentionExample::gradientOperands() const {
  std::vector<Literal> all = {q, k, v, cotangent, logSumExp, delta};
  if (problem.maskStrides) {
    all.push_back(mask);
  }
  return all;
}

std::vector<TensorType> AttentionExample::results() const { return {cotangent.type(), logSumExp.type()}; }
std::vector<TensorType> AttentionExample::gradientResults() const { return {q.type(), k.type(), v.type()}; }

std::string describe(const AttentionProblem& p) {
  std::string text =
      fmt::format("{}{} batch {} heads {}/{} queries {} keys {} widths {} {} scale {}{}", name(p.element),
                  p.tf32 ? " in tf32" : "", p.batch, p.heads, p.keyHeads, p.queries, p.keys, p.width,
                  p.valueWidth, p.scale, p.causal ? " causal" : "");
  if (p.maskStrides) {
    text += fmt::format(" mask {}", fmt::join(*p.maskStrides, ","));
  }
  return text;
}

std::string beyondBounds(const ExpectedNumbers& expected, const Literal& actual, double& worst) {
  std::string message;
  worst = 0;
  for (size_t i = 0; i < expected.value.size(); ++i) {
    const double wanted = expected.value[i], got = actual.at(static_cast<int64_t>(i));
    const bool same = wanted == got || (std::isnan(wanted) && std::isnan(got));
    const double used = same ? 0 : std::fabs(got - wanted) / expected.bound[i];
    if (!(used <= worst)) {
      worst = std::isnan(used) ? infinity : used;
      if (!(used <= 1)) {
        message = fmt::format("number {} of {}: {} for {} (bound {})", i, expected.value.size(), got, wanted,
                              expected.bound[i]);
      }
    }
  }
  return message;
}

AttentionProblem randomAttention(Dice& dice, ElementType element, bool tf32, int64_t most, int64_t widest) {
  AttentionProblem p;
  p.element = element;
  p.tf32 = tf32;
  p.batch = 1 + dice.below(2);
  p.keyHeads = 1 + dice.below(2);
  p.heads = p.keyHeads * (1 + dice.below(3));
  p.queries = 1 + dice.below(most);
  p.keys = dice.chance(40) ? p.queries : 1 + dice.below(most);
  const auto width = [&] {
    constexpr std::array<int64_t, 12> usual = {1, 8, 16, 24, 40, 64, 80, 96, 128, 160, 192, 256};
    return std::min(widest, dice.chance(70) ? dice.oneOf(usual) : 1 + dice.below(widest));
  };
  p.width = width();
  p.valueWidth = dice.chance(70) ? p.width : width();
  p.causal = dice.chance(50);
  p.scale = dice.chance(10) ? -0.3 : dice.chance(5) ? 0.0 : 1 / std::sqrt(static_cast<double>(p.width));
  if (dice.chance(40)) {
    p.maskStrides = maskStrides(p, {dice.chance(50), dice.chance(50), dice.chance(60), dice.chance(90)});
  }
  return p;
}

} // namespace dfc::test
