// gather, scatterAdd, oneHot, iota, trilu, tile, split, topK and cumSum against index arithmetic, for
// elements of every width, at the sizes where tiles, chunks and lists end, with any number of threads.
#include "tests/runtime/kernels/kernel_testing.h"
#include "tests/support/catch.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace dfc::testing {
namespace {

const std::vector<ElementType> numbers = {ElementType::F32,  ElementType::F64, ElementType::F16,
                                          ElementType::BF16, ElementType::I32, ElementType::I64,
                                          ElementType::U8};

template <class Op>
Op along(int64_t axis) {
  Op op;
  op.axis = axis;
  return op;
}

// Places along an axis, from either end, every 11th out of range.
Literal indicesOf(ElementType type, const Shape& shape, int64_t length) {
  Literal indices({type, shape});
  for (int64_t i = 0; i < shape.elements(); ++i) {
    const bool known = length > 0 && i % 11 != 10;
    indices.set(i, static_cast<double>(known        ? i * 7919 % (2 * length) - length
                                       : i % 2 == 0 ? length
                                                    : -length - 1));
  }
  return indices;
}

std::optional<int64_t> placeOf(const Literal& indices, int64_t at, int64_t length) {
  const auto index = static_cast<int64_t>(indices.at(at));
  const int64_t place = index < 0 ? index + length : index;
  return place >= 0 && place < length ? std::optional(place) : std::nullopt;
}

// A shape as [outer, length, inner] about an axis.
struct Sizes {
  Sizes(const Shape& shape, size_t axis) {
    for (size_t i = 0; i < shape.rank(); ++i) {
      (i < axis ? outer : i == axis ? length : inner) *= shape[i];
    }
  }
  int64_t outer = 1, length = 1, inner = 1;
};

struct GatherCase {
  Shape whole, indices;
  int64_t axis;
};
const std::vector<GatherCase> gatherCases = {
    {{9}, {}, 0},      {{9}, {20}, 0},        {{40, 16}, {3, 5}, 0},   {{5, 7, 3}, {4}, 1},
    {{6, 10}, {8}, 1}, {{700, 1}, {3000}, 0}, {{3, 2500}, {5}, 0},     {{0, 3}, {2}, 0},
    {{4, 3}, {0}, 0},  {{3000}, {50}, 0},     {{2, 90, 40}, {200}, 1}, {{3, 0}, {4}, 0},
};

Shape gatheredShape(const GatherCase& test) {
  Dims dims(test.whole.dims().begin(), test.whole.dims().begin() + test.axis);
  dims.insert(dims.end(), test.indices.dims().begin(), test.indices.dims().end());
  dims.insert(dims.end(), test.whole.dims().begin() + test.axis + 1, test.whole.dims().end());
  return Shape(dims);
}

} // namespace

TEST_CASE("gather takes the slices that the indices name") {
  for (const ElementType type : allElementTypes) {
    for (const GatherCase& test : gatherCases) {
      const Sizes sizes(test.whole, static_cast<size_t>(test.axis));
      const Literal a = randomLiteral({type, test.whole}, 71, 0, 100);
      for (const ElementType indexType : {ElementType::I32, ElementType::I64}) {
        const Literal indices = indicesOf(indexType, test.indices, sizes.length);
        const int64_t count = indices.type().shape.elements();
        const Literal got = runKernel(along<ops::Gather>(test.axis), {a, indices}, 2);
        INFO(toString(a.type()) << " by " << toString(indices.type()));
        CHECK(got.type().shape == gatheredShape(test));
        checkElements(
            got,
            [&](int64_t i) {
              const int64_t slice = i / sizes.inner, outer = slice / count;
              const auto place = placeOf(indices, slice % count, sizes.length);
              const double nothing = isFloat(type) ? std::nan("") : 0;
              return place ? a.at((outer * sizes.length + *place) * sizes.inner + i % sizes.inner) : nothing;
            },
            0);
      }
    }
  }
}

TEST_CASE("scatterAdd adds every update to the slice that its index names") {
  for (const ElementType type : numbers) {
    for (const GatherCase& test : gatherCases) {
      const Sizes sizes(test.whole, static_cast<size_t>(test.axis));
      const Literal a = randomLiteral({type, test.whole}, 72, -4, 4);
      const Literal indices = indicesOf(ElementType::I64, test.indices, sizes.length);
      const Literal updates = randomLiteral({type, gatheredShape(test)}, 73, -4, 4);
      const int64_t count = indices.type().shape.elements();
      std::vector<double> sums;
      for (int64_t i = 0; i < test.whole.elements(); ++i) {
        sums.push_back(a.at(i));
      }
      for (int64_t i = 0; i < updates.type().shape.elements(); ++i) {
        const int64_t slice = i / sizes.inner, outer = slice / count;
        if (const auto place = placeOf(indices, slice % count, sizes.length)) {
          sums[static_cast<size_t>((outer * sizes.length + *place) * sizes.inner + i % sizes.inner)] +=
              updates.at(i);
        }
      }
      INFO(toString(a.type()) << " by " << toString(indices.type()));
      const auto expected = [&](int64_t i) {
        const double sum = sums[static_cast<size_t>(i)];
        return type == ElementType::U8 ? double(static_cast<uint8_t>(static_cast<int64_t>(sum))) : sum;
      };
      const auto op = along<ops::ScatterAdd>(test.axis);
      const Literal got = runKernel(op, {a, indices, updates});
      checkElements(got, expected, 0); // carried in f64 in the same order: to the bit
      CHECK(got == runKernel(op, {a, indices, updates}, 3));
    }
  }
}

TEST_CASE("scatterAdd keeps the bits of what nothing is added to") {
  const Literal a = literalOf(ElementType::F16, {3}, {-0.0, std::nan(""), 65504});
  CHECK(bitsOf(runKernel(ops::ScatterAdd{}, {a, indicesOf(ElementType::I32, {0}, 3),
                                             Literal({ElementType::F16, {0}})})) == bitsOf(a));
}

TEST_CASE("oneHot writes one where the index is, and nothing for one out of range") {
  for (const ElementType to : allElementTypes) {
    for (const int64_t axis : {0, 1, 2, -1}) {
      for (const int64_t depth : {0, 1, 5, 300}) {
        ops::OneHot op;
        op.depth = depth;
        op.axis = axis;
        op.to = to;
        const Literal indices = indicesOf(axis == 0 ? ElementType::I32 : ElementType::I64, {13, 4}, depth);
        const Literal got = runKernel(op, {indices}, 2);
        const Sizes sizes(got.type().shape, static_cast<size_t>(axis < 0 ? 2 : axis));
        checkElements(
            got,
            [&](int64_t i) {
              const int64_t at = i / (sizes.length * sizes.inner) * sizes.inner + i % sizes.inner;
              return placeOf(indices, at, depth) == i / sizes.inner % sizes.length ? 1.0 : 0.0;
            },
            0);
      }
    }
  }
}

TEST_CASE("iota counts along its axis, and rounds or wraps") {
  for (const ElementType type : numbers) {
    for (const int64_t axis : {0, 1, -1}) {
      ops::Iota op;
      op.type = {type, {3, 300, 2}};
      op.axis = axis;
      const Sizes sizes(op.type.shape, static_cast<size_t>(axis < 0 ? 2 : axis));
      checkElements(
          runKernel(op, {}, 2),
          [&](int64_t i) {
            const int64_t index = i / sizes.inner % sizes.length;
            return static_cast<double>(type == ElementType::U8 ? index % 256 : index);
          },
          0); // BF16 rounds 257 to 256
    }
  }
}

TEST_CASE("trilu keeps one side of a diagonal") {
  for (const ElementType type : {ElementType::F64, ElementType::F16, ElementType::I32, ElementType::Bool}) {
    for (const int64_t k : {0L, 1L, -3L, 100L, -100L, std::numeric_limits<int64_t>::max(),
                            std::numeric_limits<int64_t>::min()}) {
      for (const Shape& shape : {Shape{4, 7}, Shape{2, 3, 9, 5}, Shape{3, 0}, Shape{0, 3}, Shape{1, 1}}) {
        for (const bool upper : {false, true}) {
          const Literal a = randomLiteral({type, shape}, 74, 1, 100);
          const int64_t rows = shape[shape.rank() - 2], columns = shape[shape.rank() - 1];
          ops::Trilu op;
          op.k = k;
          op.upper = upper;
          checkElements(
              runKernel(op, {a}, 2),
              [&](int64_t i) {
                const int64_t diagonal = i % columns - i / columns % rows;
                return (upper ? diagonal >= k : diagonal <= k) ? a.at(i) : 0;
              },
              0);
        }
      }
    }
  }
}

TEST_CASE("tile repeats, and split undoes concat") {
  const std::vector<std::pair<Shape, Dims>> tiles = {
      {{}, {}},
      {{5}, {70}},
      {{1, 9}, {300, 1}},
      {{3, 40}, {2, 3}},
      {{2, 3, 4}, {1, 5, 2}},
      {{2, 3}, {0, 2}},
      {{2, 0}, {3, 2}},
      {{1, 1, 1}, {4, 3, 2}},
      {{2, 1, 2, 1, 2, 1, 2, 1}, {1, 2, 2, 1, 1, 3, 2, 1}},
  };
  for (const ElementType type : {ElementType::F64, ElementType::F32, ElementType::F16, ElementType::Bool}) {
    for (const auto& [shape, repeats] : tiles) {
      const Literal a = randomLiteral({type, shape}, 75, 0, 100);
      ops::Tile op;
      op.repeats = repeats;
      const Literal got = runKernel(op, {a}, 2);
      const Shape whole = got.type().shape, part = shape;
      checkElements(
          got,
          [&](int64_t i) {
            Index index = indexOf(whole, i);
            for (size_t axis = 0; axis < index.size(); ++axis) {
              index[axis] %= part[axis];
            }
            return a.at(offsetOf(part, index));
          },
          0);
    }
    for (const int64_t axis : {0, 1, -1}) {
      ops::Split split;
      split.axis = axis;
      split.sizes = {4, 0, 1, 7};
      ops::Concat concat;
      concat.axis = axis;
      const Literal whole = randomLiteral({type, {12, 12, 12}}, 76, 0, 100);
      const std::vector<Literal> parts = runKernelForAll(split, {whole}, 2);
      REQUIRE(parts.size() == 4);
      CHECK(runKernel(concat, parts) == whole);
    }
  }
}

TEST_CASE("topK sorts the best of each row, the first of equals, NaN above all") {
  for (const ElementType type : numbers) {
    for (const auto& [shape, axis] : std::vector<std::pair<Shape, size_t>>{
             {{1}, 0}, {{40}, 0}, {{3, 200}, 1}, {{30, 4}, 0}, {{2, 9, 3}, 1}, {{0, 4}, 1}}) {
      for (const bool largest : {true, false}) {
        Literal a = randomLiteral({type, shape}, 77, -3, 3); // few integers: many are equal
        if (isFloat(type) && a.type().shape.elements() > 30) {
          a.set(7, std::nan(""));
          a.set(19, std::nan(""));
          a.set(3, -0.0);
          a.set(4, 0.0);
          a.set(5, largest ? INFINITY : -INFINITY);
        }
        const Sizes sizes(shape, axis);
        for (const int64_t k : {int64_t(0), int64_t(1), sizes.length / 2, sizes.length}) {
          ops::TopK op;
          op.k = k;
          op.axis = static_cast<int64_t>(axis);
          op.largest = largest;
          const std::vector<Literal> got = runKernelForAll(op, {a}, 3);
          REQUIRE(got.size() == 2);
          const auto above = [&](double x, double y) { return std::isnan(x) ? !std::isnan(y) : x > y; };
          for (int64_t row = 0; row < sizes.outer * sizes.inner; ++row) {
            const int64_t outer = row / sizes.inner, inner = row % sizes.inner;
            const auto at = [&](int64_t i) { return a.at((outer * sizes.length + i) * sizes.inner + inner); };
            std::vector<int64_t> order(static_cast<size_t>(sizes.length));
            std::iota(order.begin(), order.end(), int64_t(0));
            std::stable_sort(order.begin(), order.end(), [&](int64_t x, int64_t y) {
              return largest ? above(at(x), at(y)) : above(at(y), at(x));
            });
            for (int64_t i = 0; i < k; ++i) {
              const int64_t to = (outer * k + i) * sizes.inner + inner;
              const double want = at(order[static_cast<size_t>(i)]), value = got[0].at(to);
              REQUIRE(got[1].at(to) == static_cast<double>(order[static_cast<size_t>(i)]));
              REQUIRE((value == want || (std::isnan(value) && std::isnan(want))));
              REQUIRE(std::signbit(value) == std::signbit(want)); // the element itself, also of two zeros
            }
          }
        }
      }
    }
  }
}

TEST_CASE("cumSum gives running sums, either way, over chunks and panels") {
  for (const ElementType type : numbers) {
    for (const auto& [shape, axis] : std::vector<std::pair<Shape, size_t>>{{{1}, 0},
                                                                           {{7}, 0},
                                                                           {{70000}, 0},
                                                                           {{3, 40}, 1},
                                                                           {{300, 5}, 0},
                                                                           {{2, 300, 600}, 1},
                                                                           {{4, 0}, 1},
                                                                           {{0, 4}, 1}}) {
      for (const uint32_t way : {0U, 1U, 2U, 3U}) {
        ops::CumSum op;
        op.axis = static_cast<int64_t>(axis);
        op.exclusive = (way & 1U) != 0;
        op.reverse = (way & 2U) != 0;
        const Literal a = randomLiteral({type, shape}, 78, -40, 40);
        const Sizes sizes(shape, axis);
        std::vector<long double> sums(static_cast<size_t>(shape.elements()));
        double magnitude = 0;
        for (int64_t line = 0; line < sizes.outer * sizes.inner; ++line) {
          long double sum = 0, magnitudes = 0;
          for (int64_t i = 0; i < sizes.length; ++i) {
            const int64_t index = op.reverse ? sizes.length - 1 - i : i;
            const int64_t at = (line / sizes.inner * sizes.length + index) * sizes.inner + line % sizes.inner;
            const long double before = sum;
            sum += a.at(at);
            magnitudes += std::fabs(a.at(at));
            sums[static_cast<size_t>(at)] = op.exclusive ? before : sum;
          }
          magnitude = std::max(magnitude, static_cast<double>(magnitudes));
        }
        INFO(toString(a.type()) << " along " << axis << ", way " << way);
        const Literal got = runKernel(op, {a});
        checkElements(
            got,
            [&](int64_t i) {
              const auto sum = static_cast<double>(sums[static_cast<size_t>(i)]);
              return type == ElementType::U8 ? double(static_cast<uint8_t>(static_cast<int64_t>(sum))) : sum;
            },
            0.51, isFloat(type) ? magnitude * 0x1p-45 : 0); // f64 sums of 70000 terms
        CHECK(got == runKernel(op, {a}, 3));
      }
    }
  }
}

} // namespace dfc::testing
