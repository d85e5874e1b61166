// Reductions against plain sums in long double, over every set of axes and the sizes at which tiles and
// chunks end.
#include "tests/runtime/kernels/kernel_testing.h"
#include "tests/support/catch.h"

#include <cmath>
#include <limits>
#include <map>

namespace dfc::testing {
namespace {

OpAttributes reduction(OpKind kind, const Dims& axes, bool keepDims = false) {
  switch (kind) {
  case OpKind::ReduceSum: return ops::ReduceSum{{}, axes, keepDims};
  case OpKind::ReduceMean: return ops::ReduceMean{{}, axes, keepDims};
  case OpKind::ReduceMin: return ops::ReduceMin{{}, axes, keepDims};
  case OpKind::ReduceProduct: return ops::ReduceProduct{{}, axes, keepDims};
  default: return ops::ReduceMax{{}, axes, keepDims};
  }
}

struct Folded {
  long double sum = 0, magnitudes = 0;
  long double product = 1;
  uint64_t wrapped = 1; // the product of integers
  double max = -std::numeric_limits<double>::infinity(), min = -max;
  int64_t count = 0;
};

// The operand folded over `axes` (all if none), by result element with kept axes in order.
std::vector<Folded> foldedBy(const Literal& operand, const Dims& axes) {
  const Shape& shape = operand.type().shape;
  std::vector<bool> reduced(shape.rank(), axes.empty());
  for (const int64_t axis : axes) {
    reduced[static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(shape.rank()) : axis)] = true;
  }
  int64_t results = 1;
  for (size_t axis = 0; axis < shape.rank(); ++axis) {
    results *= reduced[axis] ? 1 : shape[axis];
  }
  std::vector<Folded> reductions(static_cast<size_t>(results));
  for (int64_t i = 0; i < shape.elements(); ++i) {
    const Index index = indexOf(shape, i);
    int64_t at = 0;
    for (size_t axis = 0; axis < shape.rank(); ++axis) {
      at = reduced[axis] ? at : at * shape[axis] + index[axis];
    }
    Folded& reduction = reductions[static_cast<size_t>(at)];
    const double value = operand.at(i);
    reduction.sum += value;
    reduction.magnitudes += std::fabs(value);
    reduction.product *= value;
    reduction.wrapped *=
        isFloat(operand.type().element) ? 1 : static_cast<uint64_t>(static_cast<int64_t>(value));
    reduction.min =
        std::isnan(value) || std::isnan(reduction.min) ? std::nan("") : std::min(reduction.min, value);
    reduction.max =
        std::isnan(value) || std::isnan(reduction.max) ? std::nan("") : std::max(reduction.max, value);
    ++reduction.count;
  }
  return reductions;
}

void checkReduction(OpKind kind, const Literal& operand, const Dims& axes, bool keepDims = false) {
  const Literal got = runKernel(reduction(kind, axes, keepDims), {operand});
  const std::vector<Folded> reductions = foldedBy(operand, axes);
  const ElementType type = got.type().element;
  INFO(nameOf(kind) << " of " << toString(operand.type()) << " to " << toString(got.type()));
  REQUIRE(got.type().shape.elements() == static_cast<int64_t>(reductions.size()));
  double magnitude = 0; // f64 partial sums err by at most 2^-53 of the magnitudes for each of a few levels
  for (const Folded& reduction : reductions) {
    magnitude = std::max(magnitude, static_cast<double>(reduction.magnitudes));
  }
  const bool sums = kind == OpKind::ReduceSum || kind == OpKind::ReduceMean;
  const double absolute = sums ? magnitude * 0x1p-45 : 0;
  // Each f64 product errs by half an ulp.
  const double ulps = kind == OpKind::ReduceProduct && type == ElementType::F64
                          ? static_cast<double>(reductions.empty() ? 1 : reductions.front().count)
                          : 0.51;
  checkElements(
      got,
      [&](int64_t i) {
        const Folded& reduction = reductions[static_cast<size_t>(i)];
        const auto sum = static_cast<double>(reduction.sum);
        switch (kind) {
        case OpKind::ReduceSum: {
          const auto whole = isFloat(type) ? 0 : static_cast<int64_t>(reduction.sum);
          return isFloat(type)              ? sum
                 : type == ElementType::U8  ? double(static_cast<uint8_t>(whole))
                 : type == ElementType::I32 ? double(static_cast<int32_t>(whole))
                                            : sum;
        }
        case OpKind::ReduceMean: return sum / static_cast<double>(reduction.count);
        case OpKind::ReduceProduct:
          return isFloat(type)              ? static_cast<double>(reduction.product)
                 : type == ElementType::U8  ? double(static_cast<uint8_t>(reduction.wrapped))
                 : type == ElementType::I32 ? double(static_cast<int32_t>(reduction.wrapped))
                                            : double(static_cast<int64_t>(reduction.wrapped));
        case OpKind::ReduceMin: return reduction.min;
        default: return reduction.max;
        }
      },
      ulps, absolute);
}

// Factors whose product neither vanishes nor overflows soon: log|x| has mean 0. Whole ones without a 0.
Literal drawn(OpKind kind, const TensorType& type, uint32_t seed, double magnitude) {
  if (kind != OpKind::ReduceProduct) {
    return randomLiteral(type, seed, -magnitude, magnitude);
  }
  return isFloat(type.element) ? randomLiteral(type, seed, -2.718, 2.718) : randomLiteral(type, seed, 3, 60);
}

bool reductionTakes(OpKind kind, ElementType type) {
  return resultTypes(reduction(kind, {}), {TensorType{type, {2}}}).ok();
}

const std::vector<OpKind> reductions = {OpKind::ReduceSum, OpKind::ReduceMean, OpKind::ReduceMax,
                                        OpKind::ReduceMin, OpKind::ReduceProduct};

} // namespace

TEST_CASE("reductions over every set of axes agree with plain sums") {
  const Shape shape{3, 5, 1, 7};
  for (uint32_t set = 0; set < 16; ++set) {
    Dims axes;
    for (int64_t axis = 0; axis < 4; ++axis) {
      if ((set >> axis & 1U) != 0) {
        axes.push_back(axis % 2 == 0 ? axis : axis - 4); // half of them counted from the end
      }
    }
    for (const OpKind kind : reductions) {
      for (const ElementType type : allElementTypes) {
        if (reductionTakes(kind, type)) {
          checkReduction(kind, drawn(kind, {type, shape}, set, 60), axes, set % 2 == 0);
        }
      }
    }
  }
}

TEST_CASE("reductions agree with plain sums at the sizes where tiles and chunks end") {
  const std::vector<std::pair<Shape, Dims>> cases = {
      {{1}, {0}},
      {{15}, {0}},
      {{17}, {0}},
      {{1024}, {0}},
      {{1025}, {0}},
      {{70000}, {0}},
      {{3, 66000}, {1}},
      {{2000, 3}, {1}},
      {{300, 10}, {0}},
      {{1000, 1500}, {0}},
      {{2, 515, 40}, {1}},
      {{40, 7, 30}, {0, 2}},
      {{2, 3, 4, 5}, {1, 3}},
      {{2, 2, 2, 2, 2, 2, 2, 2}, {0, 3, 7}},
      {{4, 1}, {1}},
      {{1, 4}, {0}},
      {{}, {}},
  };
  for (const auto& [shape, axes] : cases) {
    for (const OpKind kind : reductions) {
      for (const ElementType type :
           {ElementType::F32, ElementType::F64, ElementType::BF16, ElementType::I32}) {
        if (reductionTakes(kind, type)) {
          checkReduction(kind, drawn(kind, {type, shape}, 21, 1000), axes);
        }
      }
    }
  }
}

TEST_CASE("an f32 sum of many elements is right to its last place") {
  // A running f32 sum of 2^24 + n ones stops at 2^24; ours must not.
  const int64_t count = (1 << 24) + 1024;
  const Literal ones = filledLiteral(f32({count}), 1);
  CHECK(runKernel(ops::ReduceSum{}, {ones}, 2).at(0) == double(count)); // even, so f32 holds it
}

TEST_CASE("an empty sum is plus zero and an empty result has no element") {
  const Literal sum = runKernel(ops::ReduceSum{{}, {1}, false}, {Literal(f32({3, 0}))});
  CHECK(bitsOf(sum) == std::vector<uint8_t>(12, 0)); // three times +0.0F, four zero bytes each
  CHECK(runKernel(ops::ReduceSum{{}, {0}, false}, {Literal(i32({0, 2}))}).at(1) == 0);
  CHECK(runKernel(ops::ReduceSum{{}, {0}, false}, {Literal(f32({3, 0}))}).bytes().empty());
}

TEST_CASE("a sum of one element is that element, and a maximum keeps NaN") {
  const Literal minusZero = literalOf(ElementType::F32, {1}, {-0.0});
  CHECK(std::signbit(runKernel(ops::ReduceSum{}, {minusZero}).at(0)));
  for (const ElementType type : {ElementType::F32, ElementType::F64, ElementType::F16, ElementType::BF16}) {
    for (const int64_t place : {0, 5, 16, 39}) {
      Literal values = randomLiteral({type, {40}}, 22);
      values.set(place, std::nan(""));
      checkReduction(OpKind::ReduceMax, values, {});
      CHECK(std::isnan(runKernel(ops::ReduceMax{{}, {0}, false}, {values}).at(0)));
      checkReduction(OpKind::ReduceMin, values, {});
      CHECK(std::isnan(runKernel(ops::ReduceMin{{}, {0}, false}, {values}).at(0)));
      CHECK(std::isnan(runKernel(ops::ReduceProduct{{}, {0}, false}, {values}).at(0)));
    }
  }
}

TEST_CASE("an empty product is one, a product in f32 does not overflow on its way, integers wrap") {
  CHECK(runKernel(ops::ReduceProduct{{}, {1}, false}, {Literal(f32({3, 0}))}) == filledLiteral(f32({3}), 1));
  CHECK(runKernel(ops::ReduceProduct{}, {Literal(i32({0}))}).at(0) == 1);
  const Literal wide = literalOf(ElementType::F32, {4}, {0x1p100, 0x1p100, 0x1p-100, 0x1p-99});
  CHECK(runKernel(ops::ReduceProduct{}, {wide}).at(0) == 2); // 2^(100 + 100 - 100 - 99)
  const Literal bytes = literalOf(ElementType::U8, {3}, {100, 3, 2});
  CHECK(runKernel(ops::ReduceProduct{}, {bytes}).at(0) == 88); // 600 = 2 * 256 + 88
}

TEST_CASE("integer sums wrap") {
  const Literal bytes = filledLiteral({ElementType::U8, {300}}, 255);
  CHECK(runKernel(ops::ReduceSum{}, {bytes}).at(0) == 212); // 300 * 255 = 76500 = 298 * 256 + 212
  const Literal words = filledLiteral(i32({4}), 2147483647);
  CHECK(runKernel(ops::ReduceSum{}, {words}).at(0) == -4); // 4 * (2^31 - 1) = 2^33 - 4
}

TEST_CASE("reductions give the same bits with one thread and with three") {
  for (const ElementType type : {ElementType::F32, ElementType::F64}) {
    const Literal values = randomLiteral({type, {700, 1300}}, 23);
    for (const OpKind kind : reductions) {
      for (const Dims& axes : {Dims{}, Dims{0}, Dims{1}}) {
        CHECK(runKernel(reduction(kind, axes), {values}, 1) == runKernel(reduction(kind, axes), {values}, 3));
      }
    }
  }
}

} // namespace dfc::testing
