// attention and its gradient on the cpu against plain double loops: every float type, causal or not, masked,
// heads in groups, queries that see no key, sizes beyond a block, and the same bits for any number of
// threads.
#include "ir/graph/rules/attention_shape.h"
#include "tests/runtime/kernels/kernel_testing.h"
#include "tests/support/attention/attention_in_layouts.h"
#include "tests/support/catch.h"

#include <cmath>
#include <limits>

namespace dfc::testing {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct AttentionCase {
  Shape q, k, v;
  bool causal = false;
  std::optional<Shape> mask = std::nullopt;
  double scale = 0;
};

const std::vector<AttentionCase> attentionCases = {
    {{1, 1}, {1, 1}, {1, 1}},
    {{5, 3}, {7, 3}, {7, 2}, true},
    {{2, 4, 9, 8}, {2, 4, 9, 8}, {2, 4, 9, 8}, true},
    {{2, 6, 5, 4}, {2, 2, 11, 4}, {2, 2, 11, 3}, false, Shape{2, 1, 5, 11}, 0.3},
    {{3, 4, 70, 16}, {3, 1, 70, 16}, {3, 1, 70, 5}, true, Shape{4, 1, 70}},
    {{1, 2, 130, 8}, {1, 2, 300, 8}, {1, 2, 300, 16}, true},
    {{2, 300, 8}, {2, 150, 8}, {2, 150, 8}, true},
    {{1, 1, 1, 64}, {1, 1, 1500, 64}, {1, 1, 1500, 64}},
    {{2, 3, 0, 4}, {2, 3, 5, 4}, {2, 3, 5, 4}},
    {{2, 3, 4, 4}, {2, 3, 0, 4}, {2, 3, 0, 4}},
    {{2, 3, 4, 0}, {2, 3, 5, 0}, {2, 3, 5, 4}},
};

// Everything that attention defines, by one query after the other.
struct Reference {
  std::vector<double> result, logSumExp, delta, dq, dk, dv;

  Reference(const AttentionCase& one, const std::vector<Literal>& in, const Literal& cotangent) {
    const AttentionShape shape = knownAttentionShape({}, {in[0].type(), in[1].type(), in[2].type()});
    const int64_t width = shape.width, out = shape.valueWidth;
    result.resize(size_t(shape.result().elements()));
    logSumExp.resize(size_t(shape.rows().elements()));
    delta.resize(logSumExp.size());
    dq.resize(size_t(in[0].type().shape.elements()));
    dk.resize(size_t(in[1].type().shape.elements()));
    dv.resize(size_t(in[2].type().shape.elements()));
    ops::Attention op;
    op.scale = one.scale;
    const double scale = op.scaleFor(width);
    for (int64_t row = 0; row < shape.rows().elements(); ++row) {
      const int64_t query = row % shape.queries, keys = row / shape.queries / shape.group() * shape.keys;
      std::vector<double> weights(size_t(shape.keys), 0);
      double largest = -infinity, sum = 0;
      for (int64_t key = 0; key < shape.keys; ++key) {
        double score = 0;
        for (int64_t i = 0; i < width; ++i) {
          score += in[0].at(row * width + i) * in[1].at((keys + key) * width + i);
        }
        const bool seen =
            (!one.causal || key <= query) &&
            (!one.mask || in[3].at(broadcastOffset(*one.mask, shape.scores(), row * shape.keys + key)) != 0);
        weights[size_t(key)] = seen ? score * scale : -infinity;
        largest = std::max(largest, weights[size_t(key)]);
      }
      for (double& weight : weights) {
        weight = largest == -infinity ? 0 : std::exp(weight - largest);
        sum += weight;
      }
      logSumExp[size_t(row)] = largest == -infinity ? -infinity : largest + std::log(sum);
      double dot = 0;
      for (int64_t key = 0; key < shape.keys; ++key) {
        weights[size_t(key)] /= sum > 0 ? sum : 1;
        for (int64_t i = 0; i < out; ++i) {
          const double term = weights[size_t(key)] * in[2].at((keys + key) * out + i);
          result[size_t(row * out + i)] += term;
          dot += term * cotangent.at(row * out + i);
        }
      }
      delta[size_t(row)] = dot;
      for (int64_t key = 0; key < shape.keys; ++key) {
        double ofWeight = 0;
        for (int64_t i = 0; i < out; ++i) {
          ofWeight += cotangent.at(row * out + i) * in[2].at((keys + key) * out + i);
          dv[size_t((keys + key) * out + i)] += weights[size_t(key)] * cotangent.at(row * out + i);
        }
        const double ofScore = weights[size_t(key)] * (ofWeight - dot) * scale;
        for (int64_t i = 0; i < width; ++i) {
          dq[size_t(row * width + i)] += ofScore * in[1].at((keys + key) * width + i);
          dk[size_t((keys + key) * width + i)] += ofScore * in[0].at(row * width + i);
        }
      }
    }
  }
};

std::vector<Literal> operandsOf(const AttentionCase& one, ElementType type) {
  std::vector<Literal> operands = {randomLiteral({type, one.q}, 1, -1.5, 1.5),
                                   randomLiteral({type, one.k}, 2, -1.5, 1.5),
                                   randomLiteral({type, one.v}, 3, -1, 1)};
  if (one.mask) {
    Literal mask = randomLiteral({ElementType::F32, *one.mask}, 4, 0, 1),
            bits({ElementType::Bool, *one.mask});
    const int64_t last = one.mask->dims().back();
    for (int64_t i = 0; i < one.mask->elements(); ++i) {
      bits.set(i, i >= 2 * last && mask.at(i) < 0.7 ? 1 : 0); // the first two rows see nothing
    }
    operands.push_back(bits);
  }
  return operands;
}

void checkAll(const Literal& got, const std::vector<double>& expected, double unit) {
  checkElements(
      got, [&](int64_t i) { return expected[size_t(i)]; }, 2, unit);
}

} // namespace

TEST_CASE("attention agrees with plain loops") {
  for (const ElementType type : floatTypes) {
    for (const AttentionCase& one : attentionCases) {
      INFO(name(type) << ", q " << toString(one.q) << ", k " << toString(one.k)
                      << (one.causal ? ", causal" : ""));
      const std::vector<Literal> operands = operandsOf(one, type);
      ops::Attention op;
      op.causal = one.causal;
      op.scale = one.scale;
      const auto made = runKernelForAll(op, operands, 2);
      const double unit = type == ElementType::F64 ? 1e-13 : 2e-5;
      const Literal cotangent = randomLiteral(made[0].type(), 5, -1, 1);
      const Reference expected(one, operands, cotangent);
      checkAll(made[0], expected.result, unit);
      checkAll(made[1], expected.logSumExp, unit);

      ops::AttentionGradient gradient{{}, op};
      Literal delta(made[1].type());
      for (int64_t i = 0; i < delta.type().shape.elements(); ++i) {
        delta.set(i, expected.delta[size_t(i)]);
      }
      std::vector<Literal> all = {operands[0], operands[1], operands[2], cotangent, made[1], delta};
      if (one.mask) {
        all.push_back(operands[3]);
      }
      const auto gradients = runKernelForAll(gradient, all, 2);
      checkAll(gradients[0], expected.dq, 10 * unit);
      checkAll(gradients[1], expected.dk, 10 * unit);
      checkAll(gradients[2], expected.dv, 10 * unit);
      CHECK(runKernelForAll(op, operands, 1) == made);
      CHECK(runKernelForAll(op, operands, 5) == made);
      CHECK(runKernelForAll(gradient, all, 1) == gradients);
      CHECK(runKernelForAll(gradient, all, 5) == gradients);
    }
  }
}

TEST_CASE("attention in other layouts has the bits of heads first") {
  for (const ElementType type : floatTypes) {
    for (const AttentionLayout layout : {AttentionLayout::Rows, AttentionLayout::Packed}) {
      for (const int64_t length : {1, 9, 130}) {
        INFO(name(type) << ", layout " << static_cast<int>(layout) << ", length " << length);
        const test::AttentionInLayouts example(type, layout, length, length == 9 ? 7 : 8, length != 130);
        const auto inHeads = runKernelForAll(example.forward(false), example.operands(false), 2),
                   inLayout = runKernelForAll(example.forward(true), example.operands(true), 2);
        CHECK(inLayout[0] == example.moved(inHeads[0]));
        CHECK(inLayout[1] == example.movedStatistics(inHeads[1]));
        const auto gradients =
            runKernelForAll(example.gradient(false), example.gradientOperands(false, inHeads), 2);
        CHECK(runKernelForAll(example.gradient(true), example.gradientOperands(true, inHeads), 2) ==
              example.joined({gradients[0], gradients[1], gradients[2]}));
      }
    }
  }
}

TEST_CASE("attention: NaN and infinities reach the queries that see them, and no others") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto run = [](const Literal& q, const Literal& k, const Literal& v) {
    ops::Attention op;
    op.causal = true;
    op.scale = 1;
    return runKernelForAll(op, {q, k, v});
  };
  Literal q = randomLiteral(f32({4, 2}), 1, 0.5, 1), k = randomLiteral(f32({4, 2}), 2, 0.5, 1),
          v = randomLiteral(f32({4, 2}), 3, 0.5, 1);
  Literal wild = k;
  wild.set(4, nan); // key 2
  auto made = run(q, wild, v);
  for (int64_t query = 0; query < 4; ++query) {
    CHECK(std::isnan(made[0].at(2 * query)) == (query >= 2));
    CHECK(std::isnan(made[1].at(query)) == (query >= 2));
  }
  wild = q;
  wild.set(2, infinity); // query 1: every score is infinite, so that no weight is defined
  made = run(wild, k, v);
  for (int64_t query = 0; query < 4; ++query) {
    CHECK(std::isnan(made[0].at(2 * query)) == (query == 1));
  }
}

} // namespace dfc::testing
