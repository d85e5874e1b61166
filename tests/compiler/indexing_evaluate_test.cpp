// The evaluator's indexing, ordering and normalising ops against numbers worked out by hand.
#include "compiler/interpreter/evaluate.h"
#include "ir/base/philox.h"
#include "tests/support/catch.h"

#include <cmath>
#include <limits>

namespace dfc {
namespace {

const double notANumber = std::numeric_limits<double>::quiet_NaN();

Literal of(ElementType element, const Shape& shape, const std::vector<double>& values) {
  Literal result({element, shape});
  for (size_t i = 0; i < values.size(); ++i) {
    result.set(static_cast<int64_t>(i), values[i]);
  }
  return result;
}
Literal floats(const Shape& shape, const std::vector<double>& values) {
  return of(ElementType::F32, shape, values);
}
Literal longs(const Shape& shape, const std::vector<double>& values) {
  return of(ElementType::I64, shape, values);
}

template <class Op, class Fill>
llvm::SmallVector<Literal, 1> all(Fill fill, const std::vector<Literal>& operands) {
  Op op;
  fill(op);
  return evaluateOp(op, operands);
}
template <class Op, class Fill>
Literal one(Fill fill, const std::vector<Literal>& operands) {
  return all<Op>(fill, operands).front();
}
const auto asItIs = [](auto&) {};

} // namespace

TEST_CASE("evaluate: gather takes slices, counts from the end, and gives NaN or 0 out of range") {
  const Literal a = floats({3, 2}, {1, 2, 3, 4, 5, 6});
  const Literal taken = one<ops::Gather>(asItIs, {a, longs({2, 2}, {2, -1, 0, 3})});
  CHECK(taken.type() == f32({2, 2, 2}));
  for (int64_t i = 0; i < 6; ++i) {
    CHECK(taken.at(i) == std::vector<double>{5, 6, 5, 6, 1, 2}[static_cast<size_t>(i)]);
  }
  CHECK(std::isnan(taken.at(6)));
  CHECK(std::isnan(taken.at(7)));
  const auto second = [](ops::Gather& op) { op.axis = 1; };
  CHECK(one<ops::Gather>(second, {a, of(ElementType::I32, {}, {-2})}) == floats({3}, {1, 3, 5}));
  CHECK(one<ops::Gather>(asItIs, {longs({2}, {7, 8}), longs({3}, {-3, 1, 2})}) == longs({3}, {0, 8, 0}));
  CHECK(one<ops::Gather>(asItIs, {of(ElementType::Bool, {1}, {1}), longs({2}, {0, 1})}) ==
        of(ElementType::Bool, {2}, {1, 0}));
}

TEST_CASE("evaluate: scatterAdd adds every update, rounds once, and drops what is out of range") {
  const Literal a = floats({3, 2}, {1, 2, 3, 4, 5, 6});
  const Literal updates = floats({4, 2}, {10, 20, 30, 40, 50, 60, 70, 80});
  CHECK(one<ops::ScatterAdd>(asItIs, {a, longs({4}, {2, -3, 2, 3}), updates}) ==
        floats({3, 2}, {31, 42, 3, 4, 65, 86})); // 1 + 30, 2 + 40; 5 + 10 + 50, 6 + 20 + 60
  // 1 + 2^-24 + 2^-24 is 1 + 2^-23 in f64, but each sum alone would round to 1 in f32.
  const Literal tiny = floats({2}, {0x1p-24, 0x1p-24});
  CHECK(one<ops::ScatterAdd>(asItIs, {floats({1}, {1}), longs({2}, {0, 0}), tiny}).at(0) == 1 + 0x1p-23);
  const auto last = [](ops::ScatterAdd& op) { op.axis = -1; };
  CHECK(one<ops::ScatterAdd>(last, {of(ElementType::U8, {1, 2}, {250, 1}), longs({2}, {0, 0}),
                                    of(ElementType::U8, {1, 2}, {5, 9})}) ==
        of(ElementType::U8, {1, 2}, {8, 1})); // 250 + 14 = 256 + 8
}

TEST_CASE("evaluate: oneHot, iota, trilu, tile") {
  const auto three = [](ops::OneHot& op) { op.depth = 3; };
  CHECK(one<ops::OneHot>(three, {longs({4}, {2, -3, 3, 1})}) ==
        floats({4, 3}, {0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 1, 0}));
  const auto ahead = [](ops::OneHot& op) {
    op.depth = 2;
    op.axis = 0;
    op.to = ElementType::Bool;
  };
  CHECK(one<ops::OneHot>(ahead, {longs({3}, {1, 0, 1})}) ==
        of(ElementType::Bool, {2, 3}, {0, 1, 0, 1, 0, 1}));
  const auto rows = [](ops::Iota& op) { op.type = {ElementType::U8, {258, 1}}; };
  CHECK(one<ops::Iota>(rows, {}).at(257) == 1); // 257 - 256
  const auto columns = [](ops::Iota& op) {
    op.type = f32({2, 3});
    op.axis = -1;
  };
  CHECK(one<ops::Iota>(columns, {}) == floats({2, 3}, {0, 1, 2, 0, 1, 2}));
  const Literal matrix = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(one<ops::Trilu>(asItIs, {matrix}) == floats({2, 3}, {1, 2, 3, 0, 5, 6}));
  const auto below = [](ops::Trilu& op) {
    op.k = -1;
    op.upper = false;
  };
  CHECK(one<ops::Trilu>(below, {matrix}) == floats({2, 3}, {0, 0, 0, 4, 0, 0}));
  const auto twice = [](ops::Tile& op) { op.repeats = {1, 2}; };
  CHECK(one<ops::Tile>(twice, {matrix}) == floats({2, 6}, {1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6}));
}

TEST_CASE("evaluate: split gives one result for each size") {
  const auto parts = all<ops::Split>(
      [](ops::Split& op) {
        op.sizes = {2, 0, 1};
        op.axis = 1;
      },
      {floats({2, 3}, {1, 2, 3, 4, 5, 6})});
  REQUIRE(parts.size() == 3);
  CHECK(parts[0] == floats({2, 2}, {1, 2, 4, 5}));
  CHECK(parts[1] == floats({2, 0}, {}));
  CHECK(parts[2] == floats({2, 1}, {3, 6}));
}

TEST_CASE("evaluate: topK sorts, takes the first of equals, and puts NaN above all") {
  const Literal row = floats({6}, {3, notANumber, 3, -1, 5, -0.0});
  const auto best = all<ops::TopK>([](ops::TopK& op) { op.k = 4; }, {row});
  REQUIRE(best.size() == 2);
  CHECK(std::isnan(best[0].at(0)));
  CHECK(best[0].at(1) == 5);
  CHECK(best[1] == longs({4}, {1, 4, 0, 2}));
  const auto smallest = [](ops::TopK& op) {
    op.k = 6;
    op.largest = false;
  };
  CHECK(all<ops::TopK>(smallest, {row})[1] == longs({6}, {3, 5, 0, 2, 4, 1}));
  const auto columns = [](ops::TopK& op) {
    op.k = 1;
    op.axis = 0;
  };
  CHECK(all<ops::TopK>(columns, {floats({2, 2}, {1, 9, 4, 2})})[0] == floats({1, 2}, {4, 9}));
}

TEST_CASE("evaluate: cumSum runs either way, with or without the element itself") {
  const Literal row = longs({4}, {1, 2, 3, 4});
  const auto running = [&](bool exclusive, bool reverse) {
    return one<ops::CumSum>(
        [&](ops::CumSum& op) {
          op.exclusive = exclusive;
          op.reverse = reverse;
        },
        {row});
  };
  CHECK(running(false, false) == longs({4}, {1, 3, 6, 10}));
  CHECK(running(true, false) == longs({4}, {0, 1, 3, 6}));
  CHECK(running(false, true) == longs({4}, {10, 9, 7, 4}));
  CHECK(running(true, true) == longs({4}, {9, 7, 4, 0}));
  const auto down = [](ops::CumSum& op) { op.axis = 0; };
  CHECK(one<ops::CumSum>(down, {floats({2, 2}, {1, 2, 3, 4})}) == floats({2, 2}, {1, 2, 4, 6}));
}

TEST_CASE("evaluate: reduceMin and reduceProduct") {
  CHECK(one<ops::ReduceMin>([](ops::ReduceMin& op) { op.axes = {1}; }, {floats({2, 2}, {3, -1, 2, 7})}) ==
        floats({2}, {-1, 2}));
  CHECK(std::isnan(one<ops::ReduceMin>(asItIs, {floats({2}, {1, notANumber})}).at(0)));
  CHECK(one<ops::ReduceProduct>(asItIs, {floats({3}, {2, -3, 4})}) == floats({}, {-24}));
  CHECK(one<ops::ReduceProduct>(asItIs, {floats({0}, {})}) == floats({}, {1}));
  CHECK(one<ops::ReduceProduct>(asItIs, {of(ElementType::U8, {2}, {20, 13})}).at(0) == 4); // 260 - 256
}

TEST_CASE("evaluate: layerNorm and rmsNorm") {
  const Literal a = of(ElementType::F64, {2, 2}, {1, 3, -4, 4});
  const Literal scale = of(ElementType::F64, {2}, {2, 10}), bias = of(ElementType::F64, {2}, {0, 1});
  // Means 2 and 0, variances 1 and 16; with an epsilon of 3 or 9 the roots are 2 and 5.
  const auto with = [](double epsilon) { return [=](auto& op) { op.epsilon = epsilon; }; };
  const Literal three = one<ops::LayerNorm>(with(3), {a, scale, bias});
  CHECK(three.at(0) == -1); // (1 - 2) / 2 * 2
  CHECK(three.at(1) == 6);  // (3 - 2) / 2 * 10 + 1
  const Literal nine = one<ops::LayerNorm>(with(9), {a, scale});
  CHECK(nine.at(2) == Approx(-1.6)); // -4 / 5 * 2
  CHECK(nine.at(3) == Approx(8));
  // Mean squares 5 and 16: with an epsilon of 4 the first root is 3.
  CHECK(one<ops::RmsNorm>(with(4), {a, scale}).at(1) == Approx(10)); // 3 / 3 * 10
  const auto whole = [](ops::LayerNorm& op) {
    op.axis = 0;
    op.epsilon = 0;
  };
  const Literal flat = one<ops::LayerNorm>(whole, {a, of(ElementType::F64, {2, 2}, {1, 1, 1, 1})});
  CHECK(flat.at(0) == Approx(0));                   // the mean of all four is 1
  CHECK(flat.at(2) == Approx(-5 / std::sqrt(9.5))); // squares 0 + 4 + 25 + 9 over 4
}

TEST_CASE("evaluate: dynamicSlice takes a box from where its clamped starts say") {
  const Literal a = floats({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  const auto box = [](Dims sizes, Dims axes) {
    return [=](ops::DynamicSlice& op) {
      op.sizes = sizes;
      op.axes = axes;
    };
  };
  const auto rows = box({2}, {0});
  CHECK(one<ops::DynamicSlice>(rows, {a, longs({}, {1})}) == floats({2, 3}, {4, 5, 6, 7, 8, 9}));
  CHECK(one<ops::DynamicSlice>(rows, {a, longs({1}, {7})}) == floats({2, 3}, {4, 5, 6, 7, 8, 9}));
  CHECK(one<ops::DynamicSlice>(rows, {a, longs({}, {-7})}) == floats({2, 3}, {1, 2, 3, 4, 5, 6}));
  CHECK(one<ops::DynamicSlice>(box({1, 2}, {-1, 0}), {a, of(ElementType::I32, {2}, {2, 1})}) ==
        floats({2, 1}, {6, 9}));
  CHECK(one<ops::DynamicSlice>(box({2, 1}, {}), {a, longs({2}, {0, 1})}) == floats({2, 1}, {2, 5}));
}

TEST_CASE("evaluate: dynamicUpdateSlice writes a box where its clamped starts say") {
  const Literal a = floats({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  const auto along = [](Dims axes) { return [=](ops::DynamicUpdateSlice& op) { op.axes = axes; }; };
  const Literal row = floats({1, 3}, {0, -1, -2});
  CHECK(one<ops::DynamicUpdateSlice>(along({0}), {a, row, longs({}, {1})}) ==
        floats({3, 3}, {1, 2, 3, 0, -1, -2, 7, 8, 9}));
  CHECK(one<ops::DynamicUpdateSlice>(along({0}), {a, row, longs({}, {99})}) ==
        floats({3, 3}, {1, 2, 3, 4, 5, 6, 0, -1, -2}));
  CHECK(one<ops::DynamicUpdateSlice>(along({}), {a, floats({2, 1}, {0, -1}), longs({2}, {1, 2})}) ==
        floats({3, 3}, {1, 2, 3, 4, 5, 0, 7, 8, -1}));
}

TEST_CASE("evaluate: randomUniform gives the words of Philox, as a whole and in parts") {
  ops::RandomUniform op;
  op.type = f32({4, 5});
  op.seed = 42;
  const Literal step = Literal::scalar(int64_t(9));
  const Literal whole = evaluateOp(op, {step})[0];
  for (int64_t i = 0; i < 20; ++i) {
    const PhiloxCounter words = philox({static_cast<uint32_t>(i / 4), 0, 9, 0}, {42, 0});
    CHECK(whole.at(i) == (2.0 * (words[static_cast<size_t>(i % 4)] / 512) + 1) / 0x1p24); // its upper 23 bits
  }
  op.part.starts = {1, 2};
  op.part.whole = {4, 5};
  op.type = f32({2, 2});
  const Literal part = evaluateOp(op, {step})[0];
  CHECK(part == floats({2, 2}, {whole.at(7), whole.at(8), whole.at(12), whole.at(13)}));
}

TEST_CASE("evaluate: dropout drops by the words of Philox and scales what it keeps") {
  ops::Dropout op;
  op.rate = 0.75;
  op.seed = 42;
  const Literal ones = filledLiteral(f32({4, 5}), 3);
  const Literal step = Literal::scalar(int64_t(9));
  const Literal got = evaluateOp(op, {ones, step})[0];
  for (int64_t i = 0; i < 20; ++i) {
    const auto block = static_cast<uint32_t>(i / 4);
    const PhiloxCounter words = philox({block, 0, 9, 0}, {42, 0});
    const bool kept = words[static_cast<size_t>(i % 4)] >= 0xC0000000U; // a rate of 3/4
    CHECK(got.at(i) == (kept ? 12 : 0));                                // 3 / (1 - 3/4)
  }
  CHECK_FALSE(evaluateOp(op, {ones, Literal::scalar(int64_t(10))})[0] == got);
  op.rate = 0;
  CHECK(evaluateOp(op, {ones, step})[0] == ones);
}

} // namespace dfc
