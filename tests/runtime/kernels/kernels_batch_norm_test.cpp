// Batch normalisation on the cpu against plain double loops: every float type, channels along every axis,
// means that are large against the spread, and the same bits for any number of threads.
#include "ir/graph/rules/batch_norm_rules.h"
#include "tests/runtime/kernels/kernel_testing.h"
#include "tests/support/catch.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace dfc::testing {
namespace {

const std::vector<std::pair<Shape, int64_t>> batchNormShapes = {
    {{5}, 0},         {{4, 1}, 1},        {{3, 5, 2, 3}, 1}, {{37, 6}, 1},
    {{2, 3, 16}, -2}, {{3, 40, 8, 8}, 1}, {{700, 3}, -1},    {{2, 3, 90, 60}, 1},
    {{6, 2, 9}, 0},   {{9, 4, 1, 1}, 1},  {{2000, 70}, 1},   {{2, 0, 3}, 1}};

using Literals = std::vector<Literal>;
using Numbers = std::vector<double>;

Literals runAll(const OpAttributes& attributes, const Literals& operands, uint32_t threads = 2) {
  llvm::SmallVector<TensorType, 5> types;
  std::vector<const std::byte*> inputs;
  for (const Literal& operand : operands) {
    types.push_back(operand.type());
    inputs.push_back(operand.bytes().data());
  }
  const TypeResult results = resultTypes(attributes, types);
  INFO(results.error);
  REQUIRE(results.ok());
  ThreadPool pool(threads);
  const auto kernel = makeCpuKernel(attributes, types, results.types, pool);
  Literals made;
  for (const TensorType& type : results.types) {
    std::memset(made.emplace_back(type).mutableBytes().data(), 0xA5, static_cast<size_t>(type.bytes()));
  }
  std::vector<std::byte*> outputs;
  for (Literal& literal : made) {
    outputs.push_back(literal.mutableBytes().data());
  }
  kernel->run(inputs, outputs);
  const Literals first = made;
  kernel->run(inputs, outputs); // a second run sees nothing of the first
  CHECK(made == first);
  return made;
}

double unitOf(ElementType type) { return type == ElementType::F64 ? 0x1p-52 : 0x1p-23; }

// The channels of a tensor.
struct View {
  Channels channels;
  int64_t count;
  View(const Shape& shape, int64_t axis) : channels(shape, axis), count(shape.elements()) {}
  size_t channelOf(int64_t i) const { return size_t(i / channels.inner % channels.channels); }
  double n() const { return double(channels.elements()); }
  template <class Term>
  Numbers sum(Term term) const {
    Numbers sums(size_t(channels.channels));
    for (int64_t i = 0; i < count; ++i) {
      sums[channelOf(i)] += term(i, channelOf(i));
    }
    return sums;
  }
};

struct Vectors {
  Literal scale, bias, mean, variance;
  Vectors(ElementType type, int64_t channels)
      : scale(randomLiteral({type, {channels}}, 11, -2, 2)),
        bias(randomLiteral({type, {channels}}, 12, -2, 2)),
        mean(randomLiteral({type, {channels}}, 13, -2, 2)),
        variance(randomLiteral({type, {channels}}, 14, 0, 3)) {}
};

} // namespace

TEST_CASE("batchNorm agrees with plain loops") {
  for (const ElementType type : floatTypes) {
    for (const auto& [shape, axis] : batchNormShapes) {
      const View view(shape, axis);
      const Vectors v(type, view.channels.channels);
      const Literal a = randomLiteral({type, shape}, 10);
      ops::BatchNorm op;
      op.axis = axis;
      INFO(name(type) << toString(shape) << " along " << axis);
      const Literal got = runAll(op, {a, v.scale, v.bias, v.mean, v.variance})[0];
      checkElements(
          got,
          [&](int64_t i) {
            const auto c = int64_t(view.channelOf(i));
            return (a.at(i) - v.mean.at(c)) / std::sqrt(v.variance.at(c) + op.epsilon) * v.scale.at(c) +
                   v.bias.at(c);
          },
          0.51, 4000 * unitOf(type)); // factors up to 2 / sqrt(1e-5) on differences up to 6
    }
  }
}

TEST_CASE("batchNormTraining agrees with plain loops") {
  for (const ElementType type : floatTypes) {
    for (const auto& [shape, axis] : batchNormShapes) {
      const View view(shape, axis);
      const Vectors v(type, view.channels.channels);
      // A mean of 100: its rounding to f32 alone would show in the result.
      const Literal a = randomLiteral({type, shape}, 10, type == ElementType::F32 ? 98 : -2,
                                      type == ElementType::F32 ? 102 : 2);
      ops::BatchNormTraining op;
      op.axis = axis;
      INFO(name(type) << toString(shape) << " along " << axis);
      const Literals got = runAll(op, {a, v.scale, v.bias});
      Numbers mean = view.sum([&](int64_t i, size_t) { return a.at(i) / view.n(); });
      const Numbers variance =
          view.sum([&](int64_t i, size_t c) { return (a.at(i) - mean[c]) * (a.at(i) - mean[c]) / view.n(); });
      checkElements(
          got[1], [&](int64_t i) { return mean[size_t(i)]; }, 0.51, 1e-11);
      checkElements(
          got[2], [&](int64_t i) { return variance[size_t(i)]; }, 0.51, 1e-11);
      checkElements(
          got[0],
          [&](int64_t i) {
            const size_t c = view.channelOf(i);
            const auto at = int64_t(c);
            return (a.at(i) - mean[c]) / std::sqrt(variance[c] + op.epsilon) * v.scale.at(at) + v.bias.at(at);
          },
          0.51, 40 * unitOf(type) + (type == ElementType::F64 ? 1e-10 : 0));
    }
  }
}

TEST_CASE("batchNormGradient agrees with plain loops") {
  for (const ElementType type : floatTypes) {
    for (const auto& [shape, axis] : batchNormShapes) {
      const View view(shape, axis);
      const Vectors v(type, view.channels.channels);
      const Literal a = randomLiteral({type, shape}, 10), g = randomLiteral({type, shape}, 15, -1, 1);
      ops::BatchNormGradient op;
      op.axis = axis;
      op.epsilon = 0.5;
      INFO(name(type) << toString(shape) << " along " << axis);
      const Literals got = runAll(op, {a, v.scale, v.mean, v.variance, g});
      const auto root = [&](size_t c) { return 1 / std::sqrt(v.variance.at(int64_t(c)) + op.epsilon); };
      const auto x = [&](int64_t i, size_t c) { return (a.at(i) - v.mean.at(int64_t(c))) * root(c); };
      const Numbers ofBias = view.sum([&](int64_t i, size_t) { return g.at(i); });
      const Numbers ofScale = view.sum([&](int64_t i, size_t c) { return g.at(i) * x(i, c); });
      checkElements(
          got[2], [&](int64_t i) { return ofBias[size_t(i)]; }, 0.51, 1e-10);
      checkElements(
          got[1], [&](int64_t i) { return ofScale[size_t(i)]; }, 0.51, 1e-10);
      checkElements(
          got[0],
          [&](int64_t i) {
            const size_t c = view.channelOf(i);
            return v.scale.at(int64_t(c)) * root(c) *
                   (g.at(i) - (ofBias[c] + x(i, c) * ofScale[c]) / view.n());
          },
          0.51, 400 * unitOf(type));
    }
  }
}

TEST_CASE("batchNormTraining: NaN and infinity spoil their channel only") {
  Literal a = randomLiteral(f32({2, 3, 5}), 16);
  a.set(2, std::numeric_limits<double>::quiet_NaN());
  a.set(7, std::numeric_limits<double>::infinity());
  const Literals got =
      runAll(ops::BatchNormTraining{}, {a, randomLiteral(f32({3}), 17), randomLiteral(f32({3}), 18)});
  for (int64_t i = 0; i < 30; ++i) {
    CHECK(std::isnan(got[0].at(i)) == (i / 5 % 3 != 2));
  }
}

TEST_CASE("batch normalisation gives the same bits with one thread and with three") {
  for (const auto& [shape, axis] : {std::pair<Shape, int64_t>{{16, 32, 30, 30}, 1}, {{20000, 24}, 1}}) {
    const Vectors v(ElementType::F32, Channels(shape, axis).channels);
    const Literal a = randomLiteral(f32(shape), 19), g = randomLiteral(f32(shape), 20);
    CHECK(runAll(ops::BatchNormTraining{}, {a, v.scale, v.bias}, 1) ==
          runAll(ops::BatchNormTraining{}, {a, v.scale, v.bias}, 3));
    CHECK(runAll(ops::BatchNormGradient{}, {a, v.scale, v.mean, v.variance, g}, 1) ==
          runAll(ops::BatchNormGradient{}, {a, v.scale, v.mean, v.variance, g}, 3));
  }
}

} // namespace dfc::testing
