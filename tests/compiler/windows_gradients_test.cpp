// The gradients of convolutions, pools and batch normalisations at random shapes and attributes, at first,
// second and third order, against central differences in f64.
#include "tests/support/catch.h"
#include "tests/support/differences.h"

#include "ir/author/dsl.h"

using namespace dfc;
using test::Dice;

namespace {

Dims two(Dice& dice, int64_t least, int64_t most) {
  return {least + dice.below(most - least + 1), least + dice.below(most - least + 1)};
}

Window anyWindow(Dice& dice, bool dilated) {
  Window window;
  window.strides = two(dice, 1, 2);
  window.low = two(dice, 0, 1);
  window.high = two(dice, 0, 1);
  window.dilations = dilated ? two(dice, 1, 2) : Dims{};
  return window;
}

} // namespace

TEST_CASE("gradients: conv2d with every attribute, to the third order") {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    Dice dice(seed);
    const Window window = anyWindow(dice, true);
    const int64_t groups = 1 + dice.below(2), channels = groups * (1 + dice.below(2));
    const TensorType a = f64({1 + dice.below(2), channels, 3 + dice.below(2), 3 + dice.below(2)});
    const TensorType filter =
        f64({groups * (1 + dice.below(2)), channels / groups, 1 + dice.below(2), 1 + dice.below(2)});
    INFO("seed " << seed << ": " << toString(a) << ", " << toString(filter));
    const auto formula = [&](const auto& x) { return exp(conv2d(x[0], x[1], window, groups) * 0.25); };
    test::checkDifferences(formula, {a, filter}, seed == 1 ? 3 : seed % 4 == 0 ? 2 : 1, seed);
  }
}

TEST_CASE("gradients: pools with every attribute") {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    Dice dice(seed);
    const Dims size = two(dice, 2, 3);
    const Window dilated = anyWindow(dice, true), plain = anyWindow(dice, false);
    const TensorType a = f64({1 + dice.below(2), 2, 4 + dice.below(2), 4 + dice.below(2)});
    INFO("seed " << seed << ": " << toString(a));
    const int order = seed % 3 == 0 ? 2 : 1;
    test::checkDifferences([&](const auto& x) { return exp(maxPool(x[0], size, dilated)); }, {a}, order,
                           seed);
    test::checkDifferences([&](const auto& x) { return exp(averagePool(x[0], size, plain, seed % 2 == 0)); },
                           {a}, order, seed);
  }
}

TEST_CASE("gradients: a maxPool without padding, to the second order") {
  test::checkDifferences(
      [](const auto& x) {
        return exp(maxPool(x[0], {2, 2}, {{2, 2}, {}, {}, {}}));
      },
      {f64({1, 1, 4, 5})}, 2);
}

TEST_CASE("gradients: batchNorm along every axis") {
  for (const int64_t axis : {0, 1, 2, -1}) {
    const TensorType a = f64({2, 3, 2}), vector = f64({a.shape[static_cast<size_t>(axis < 0 ? 2 : axis)]});
    test::checkDifferences(
        [&](const auto& x) { return exp(batchNorm(x[0], x[1], x[2], x[3], x[4], axis, 0.1) * 0.25); },
        {a, vector, vector, vector, vector}, axis == 1 ? 2 : 1);
  }
}
