// The evaluator against numbers worked out by hand: it is the oracle of other tests, so nothing else vouches
// for it.
#include "compiler/interpreter/evaluate.h"
#include "ir/author/dsl.h"
#include "ir/graph/graph.h"
#include "tests/support/catch.h"
#include "tests/support/random_graph.h"

#include <cmath>
#include <limits>
#include <set>

namespace dfc {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
const double notANumber = std::numeric_limits<double>::quiet_NaN();

template <class T>
Literal literal(const Shape& shape, const std::vector<T>& values) {
  return Literal(shape, std::span<const T>(values));
}

Literal floats(const Shape& shape, const std::vector<float>& values) { return literal<float>(shape, values); }

Literal of(ElementType element, const std::vector<double>& values) {
  Literal result({element, {static_cast<int64_t>(values.size())}});
  for (size_t i = 0; i < values.size(); ++i) {
    result.set(static_cast<int64_t>(i), values[i]);
  }
  return result;
}

Literal one(const OpAttributes& attributes, const std::vector<Literal>& operands) {
  return evaluateOp(attributes, operands).front();
}

Literal castTo(ElementType to, const Literal& from) {
  ops::Cast cast;
  cast.to = to;
  return one(cast, {from});
}

template <class Op>
Op over(Dims axes, bool keepDims = false) {
  Op op;
  op.axes = std::move(axes);
  op.keepDims = keepDims;
  return op;
}

} // namespace

TEST_CASE("evaluate: arithmetic broadcasts as NumPy does") {
  const Literal column = floats({2, 1}, {1, 2}), row = floats({3}, {10, 20, 30});
  CHECK(one(ops::Add{}, {column, row}) == floats({2, 3}, {11, 21, 31, 12, 22, 32}));
  CHECK(one(ops::Sub{}, {column, row}) == floats({2, 3}, {-9, -19, -29, -8, -18, -28}));
  CHECK(one(ops::Mul{}, {column, row}) == floats({2, 3}, {10, 20, 30, 20, 40, 60}));
  CHECK(one(ops::Div{}, {row, column}) == floats({2, 3}, {10, 20, 30, 5, 10, 15}));
  CHECK(one(ops::Add{}, {floats({0, 1}, {}), row}) == floats({0, 3}, {}));
}

TEST_CASE("evaluate: floats round once to their type") {
  // 1 + 2^-24 lies half way between 1 and 1 + 2^-23: to even, 1.
  CHECK(one(ops::Add{}, {of(ElementType::F32, {1}), of(ElementType::F32, {0x1p-24})}) ==
        of(ElementType::F32, {1}));
  // f16 has 11 digits: 2048 + 1 rounds to 2048, 2048 + 3 to 2052. 65504 + 65504 overflows.
  CHECK(one(ops::Add{}, {of(ElementType::F16, {2048, 2048, 65504}), of(ElementType::F16, {1, 3, 65504})}) ==
        of(ElementType::F16, {2048, 2052, infinity}));
  // bf16 has 8 digits: 256 + 1 rounds to 256, 256 + 3 to 260.
  CHECK(one(ops::Add{}, {of(ElementType::BF16, {256, 256}), of(ElementType::BF16, {1, 3})}) ==
        of(ElementType::BF16, {256, 260}));
  CHECK(one(ops::Sqrt{}, {of(ElementType::F64, {2, -1})}).at(0) == std::sqrt(2.0));
  CHECK(std::isnan(one(ops::Sqrt{}, {of(ElementType::F64, {2, -1})}).at(1)));
}

TEST_CASE("evaluate: integers wrap, and division truncates") {
  const auto most = std::numeric_limits<int32_t>::max(), least = std::numeric_limits<int32_t>::min();
  const Literal a = literal<int32_t>({4}, {most, least, 7, -7}), b = literal<int32_t>({4}, {1, -1, 0, 2});
  CHECK(one(ops::Add{}, {a, b}) == literal<int32_t>({4}, {least, most, 7, -5}));
  CHECK(one(ops::Div{}, {a, b}) == literal<int32_t>({4}, {most, least, 0, -3}));
  CHECK(one(ops::Neg{}, {a}) == literal<int32_t>({4}, {-most, least, -7, 7}));
  CHECK(one(ops::Relu{}, {a}) == literal<int32_t>({4}, {most, 0, 7, 0}));
  // 200 + 100 = 300 = 256 + 44; 3 - 5 = -2 = 254; 16 * 17 = 272 = 256 + 16.
  CHECK(one(ops::Add{}, {literal<uint8_t>({1}, {200}), literal<uint8_t>({1}, {100})}) ==
        literal<uint8_t>({1}, {44}));
  CHECK(one(ops::Sub{}, {literal<uint8_t>({1}, {3}), literal<uint8_t>({1}, {5})}) ==
        literal<uint8_t>({1}, {254}));
  CHECK(one(ops::Mul{}, {literal<uint8_t>({1}, {16}), literal<uint8_t>({1}, {17})}) ==
        literal<uint8_t>({1}, {16}));
  const auto wide = std::numeric_limits<int64_t>::min();
  CHECK(one(ops::Div{}, {literal<int64_t>({1}, {wide}), literal<int64_t>({1}, {-1})}) ==
        literal<int64_t>({1}, {wide}));
}

TEST_CASE("evaluate: NaN goes through max, min and relu, and compares as unequal") {
  const Literal a = of(ElementType::F32, {notANumber, 1, 2}), b = of(ElementType::F32, {1, notANumber, 3});
  for (const OpAttributes& op : {OpAttributes(ops::Maximum{}), OpAttributes(ops::Minimum{})}) {
    const Literal result = one(op, {a, b});
    CHECK(std::isnan(result.at(0)));
    CHECK(std::isnan(result.at(1)));
    CHECK(result.at(2) == (kindOf(op) == OpKind::Maximum ? 3 : 2));
  }
  CHECK(std::isnan(one(ops::Relu{}, {a}).at(0)));
  CHECK_FALSE(std::signbit(one(ops::Relu{}, {of(ElementType::F32, {-0.0})}).at(0)));
  // Three pairs: NaN and 1; 1 and NaN; 2 and 3.
  const std::vector<std::pair<Direction, std::vector<double>>> expected = {
      {Direction::Eq, {0, 0, 0}}, {Direction::Ne, {1, 1, 1}}, {Direction::Lt, {0, 0, 1}},
      {Direction::Le, {0, 0, 1}}, {Direction::Gt, {0, 0, 0}}, {Direction::Ge, {0, 0, 0}}};
  for (const auto& [direction, truth] : expected) {
    ops::Compare compare;
    compare.direction = direction;
    CHECK(one(compare, {a, b}) == of(ElementType::Bool, truth));
  }
}

TEST_CASE("evaluate: casts saturate, truncate towards zero, and keep low bits between integers") {
  const Literal from = of(ElementType::F64, {2.9, -2.9, 1e30, -1e30, notANumber, 0});
  CHECK(castTo(ElementType::I32, from) == literal<int32_t>({6}, {2, -2, std::numeric_limits<int32_t>::max(),
                                                                 std::numeric_limits<int32_t>::min(), 0, 0}));
  CHECK(castTo(ElementType::I64, from).data<int64_t>()[2] == std::numeric_limits<int64_t>::max());
  CHECK(castTo(ElementType::U8, from) == literal<uint8_t>({6}, {2, 0, 255, 0, 0, 0}));
  CHECK(castTo(ElementType::Bool, from) == of(ElementType::Bool, {1, 1, 1, 1, 1, 0}));
  CHECK(castTo(ElementType::U8, literal<int32_t>({2}, {257, -1})) == literal<uint8_t>({2}, {1, 255}));
  // 2^53 + 1 has no double; 2^24 + 1 no float, and lies half way: to even, 2^24.
  CHECK(castTo(ElementType::F32, literal<int64_t>({1}, {(1 << 24) + 1})) == of(ElementType::F32, {1 << 24}));
  // 2^60 + 2^36 + 1 is above the half way of two floats (2^37 apart); by way of double it would be on it.
  CHECK(castTo(ElementType::F32, literal<int64_t>({1}, {(1LL << 60) + (1LL << 36) + 1})).at(0) ==
        0x1p60 + 0x1p37);
}

TEST_CASE("evaluate: select takes each element by its condition") {
  const Literal condition = of(ElementType::Bool, {1, 0});
  CHECK(one(ops::Select{}, {condition, floats({}, {5}), floats({2, 1}, {7, 8})}) ==
        floats({2, 2}, {5, 7, 5, 8}));
}

TEST_CASE("evaluate: transcendental functions at points that are known") {
  const auto at = [](const OpAttributes& op, double x) { return one(op, {of(ElementType::F64, {x})}).at(0); };
  CHECK(at(ops::Exp{}, 0) == 1);
  CHECK(at(ops::Log{}, 1) == 0);
  CHECK(at(ops::Tanh{}, 0) == 0);
  CHECK(at(ops::Log{}, std::exp(1.0)) == Approx(1).epsilon(1e-15));
}

TEST_CASE("evaluate: rounding to whole numbers, signs and bounds") {
  const auto at = [](const OpAttributes& op, double x) { return one(op, {of(ElementType::F64, {x})}).at(0); };
  CHECK(at(ops::Floor{}, -1.5) == -2);
  CHECK(at(ops::Ceil{}, -1.5) == -1);
  CHECK(at(ops::Round{}, 2.5) == 2);
  CHECK(at(ops::Round{}, -3.5) == -4);
  CHECK(std::signbit(at(ops::Round{}, -0.25)));
  CHECK(at(ops::Abs{}, -3) == 3);
  CHECK(at(ops::Sign{}, -3) == -1);
  CHECK(std::signbit(at(ops::Sign{}, -0.0)));
  CHECK(std::isnan(at(ops::Sign{}, notANumber)));
  const auto lowest = std::numeric_limits<int32_t>::min();
  CHECK(one(ops::Abs{}, {literal<int32_t>({3}, {-5, 5, lowest})}) == literal<int32_t>({3}, {5, 5, lowest}));
  CHECK(one(ops::Sign{}, {literal<int32_t>({3}, {-5, 0, 7})}) == literal<int32_t>({3}, {-1, 0, 1}));
  CHECK(one(ops::Clip{}, {literal<int32_t>({3}, {-5, 2, 7}), literal<int32_t>({}, {0}),
                          literal<int32_t>({}, {4})}) == literal<int32_t>({3}, {0, 2, 4}));
  CHECK(one(ops::Clip{}, {of(ElementType::F32, {9}), of(ElementType::F32, {5}), of(ElementType::F32, {1})})
            .at(0) == 1); // the upper bound has the last word
}

TEST_CASE("evaluate: bits of integers, and of bool") {
  const Literal a = literal<uint8_t>({2}, {0b1100, 255}), b = literal<uint8_t>({2}, {0b1010, 1});
  CHECK(one(ops::And{}, {a, b}) == literal<uint8_t>({2}, {0b1000, 1}));
  CHECK(one(ops::Or{}, {a, b}) == literal<uint8_t>({2}, {0b1110, 255}));
  CHECK(one(ops::Xor{}, {a, b}) == literal<uint8_t>({2}, {0b0110, 254}));
  CHECK(one(ops::Not{}, {a}) == literal<uint8_t>({2}, {0b11110011, 0}));
  CHECK(one(ops::Not{}, {literal<int64_t>({2}, {0, -8})}) == literal<int64_t>({2}, {-1, 7}));
  const Literal p = of(ElementType::Bool, {0, 0, 1, 1}), q = of(ElementType::Bool, {0, 1, 0, 1});
  CHECK(one(ops::And{}, {p, q}) == of(ElementType::Bool, {0, 0, 0, 1}));
  CHECK(one(ops::Or{}, {p, q}) == of(ElementType::Bool, {0, 1, 1, 1}));
  CHECK(one(ops::Xor{}, {p, q}) == of(ElementType::Bool, {0, 1, 1, 0}));
  CHECK(one(ops::Not{}, {p}) == of(ElementType::Bool, {1, 1, 0, 0}));
}

TEST_CASE("evaluate: erf and pow at points that are known") {
  const auto at = [](const OpAttributes& op, double x) { return one(op, {of(ElementType::F64, {x})}).at(0); };
  CHECK(at(ops::Erf{}, 0.5) == Approx(0.5204998778130465).epsilon(1e-15));
  CHECK(one(ops::Pow{}, {of(ElementType::F64, {2, 9, -2}), of(ElementType::F64, {10, 0.5, 3})}) ==
        of(ElementType::F64, {1024, 3, -8}));
}

TEST_CASE("evaluate: reductions over some axes, all axes and nothing") {
  const Literal a = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(one(over<ops::ReduceSum>({0}), {a}) == floats({3}, {5, 7, 9}));
  CHECK(one(over<ops::ReduceSum>({-1}, true), {a}) == floats({2, 1}, {6, 15}));
  CHECK(one(over<ops::ReduceSum>({}), {a}) == floats({}, {21}));
  CHECK(one(over<ops::ReduceMean>({1}), {a}) == floats({2}, {2, 5}));
  CHECK(one(over<ops::ReduceMax>({0, 1}), {a}) == floats({}, {6}));
  CHECK(one(over<ops::ReduceSum>({0}), {floats({0, 2}, {})}) == floats({2}, {0, 0}));
  CHECK(std::isnan(one(over<ops::ReduceMax>({}), {of(ElementType::F32, {1, notANumber, 2})}).at(0)));
  // In f32, 2^24 + 1 = 2^24 each time; in double the four ones count: 2^24 + 4.
  CHECK(one(over<ops::ReduceSum>({}), {of(ElementType::F32, {0x1p24, 1, 1, 1, 1})}).at(0) == 0x1p24 + 4);
  CHECK(one(over<ops::ReduceSum>({}), {literal<uint8_t>({2}, {200, 100})}) == literal<uint8_t>({}, {44}));
}

TEST_CASE("evaluate: argMax takes the first of equals, and NaN above all") {
  ops::ArgMax op;
  CHECK(one(op, {floats({2, 3}, {1, 3, 3, 5, 4, 5})}) == literal<int64_t>({2}, {1, 0}));
  op.axis = 0;
  op.keepDims = true;
  CHECK(one(op, {floats({2, 2}, {1, 3, 2, 3})}) == literal<int64_t>({1, 2}, {1, 0}));
  op = {};
  CHECK(one(op, {of(ElementType::F32, {1, notANumber, 9, notANumber})}) == literal<int64_t>({}, {1}));
}

TEST_CASE("evaluate: matmul with transposes, batches and an empty sum") {
  const Literal a = floats({2, 3}, {1, 2, 3, 4, 5, 6}), b = floats({3, 2}, {1, 0, 0, 1, 1, 1});
  const Literal product = floats({2, 2}, {4, 5, 10, 11}); // 1+3, 2+3; 4+6, 5+6
  CHECK(one(ops::Matmul{}, {a, b}) == product);
  ops::Matmul transposed;
  transposed.transposeA = transposed.transposeB = true;
  CHECK(one(transposed, {floats({3, 2}, {1, 4, 2, 5, 3, 6}), floats({2, 3}, {1, 0, 1, 0, 1, 1})}) == product);
  CHECK(one(ops::Matmul{}, {floats({2, 1, 1}, {2, 3}), floats({1, 2}, {5, 7})}) ==
        floats({2, 1, 2}, {10, 14, 15, 21}));
  CHECK(one(ops::Matmul{}, {floats({1, 0}, {}), floats({0, 2}, {})}) == floats({1, 2}, {0, 0}));
}

TEST_CASE("evaluate: a fused matmul rounds its product before the body sees it") {
  ops::FusedMatmul op;
  op.transposeB = true;
  REQUIRE(op.body.decode("sub:f32 %0 %1; relu:f32 %2"));
  const Literal a = floats({1, 2}, {1, 2}), b = floats({2, 2}, {3, 4, 5, -9}); // products 3+8, 5-18
  CHECK(one(op, {a, b, floats({2}, {1, 1})}) == floats({1, 2}, {10, 0}));
  // 2^24 + 1 is no f32: rounded to even before 2^24 is taken away.
  CHECK(one(op, {floats({1, 2}, {1, 0x1p24F}), floats({1, 2}, {1, 1}), floats({}, {0x1p24F})}) ==
        floats({1, 1}, {0}));
}

TEST_CASE("evaluate: softmax and cross entropy") {
  // exp(0) : exp(ln 3) = 1 : 3, shifted by 1000 to show that nothing overflows.
  const double ln3 = std::log(3.0);
  const Literal logits = literal<double>({1, 2}, {1000, 1000 + ln3});
  CHECK(one(ops::Softmax{}, {logits}).at(0) == Approx(0.25).epsilon(1e-12));
  CHECK(one(ops::LogSoftmax{}, {logits}).at(1) == Approx(std::log(0.75)).epsilon(1e-12));
  const Literal labels = literal<int64_t>({1}, {0}), wrong = literal<int64_t>({1}, {2});
  CHECK(one(ops::SoftmaxCrossEntropy{}, {logits, labels}).at(0) == Approx(std::log(4.0)).epsilon(1e-12));
  CHECK(std::isnan(one(ops::SoftmaxCrossEntropy{}, {logits, wrong}).at(0)));
  const Literal derivative =
      one(ops::SoftmaxCrossEntropyGradient{}, {logits, labels, Literal::scalar<double>(2)});
  CHECK(derivative.at(0) == Approx(2 * (0.25 - 1)).epsilon(1e-12));
  CHECK(derivative.at(1) == Approx(2 * 0.75).epsilon(1e-12));
  // f16 logits 0 and 0: log(2) to 24 bits or to 11, and the probabilities 1/2 of a gradient
  // of 2^16, infinite in f16.
  const Literal equal({ElementType::F16, {1, 2}});
  ops::SoftmaxCrossEntropy narrow, wide;
  wide.loss = LossType::F32;
  CHECK(one(narrow, {equal, labels}).at(0) == 0x1.63p-1);
  CHECK(one(wide, {equal, labels}) == Literal::scalar(std::log(2.0F)));
  const Literal scaled = one(ops::SoftmaxCrossEntropyGradient{}, {equal, labels, Literal::scalar(0x1p16F)});
  CHECK(scaled.type() == equal.type());
  CHECK(scaled.at(1) == 0x1p15);
  ops::Softmax columns;
  columns.axis = 0;
  CHECK(one(columns, {floats({2, 2}, {0, 5, 0, 5})}) == floats({2, 2}, {0.5, 0.5, 0.5, 0.5}));
}

TEST_CASE("evaluate: ops that move elements") {
  const Literal a = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  ops::Transpose transpose;
  CHECK(one(transpose, {a}) == floats({3, 2}, {1, 4, 2, 5, 3, 6}));
  transpose.permutation = {1, 2, 0};
  // Result [i][j][k] is a[k][i][j] of shape [2, 1, 3] -> [1, 3, 2].
  CHECK(one(transpose, {floats({2, 1, 3}, {1, 2, 3, 4, 5, 6})}) == floats({1, 3, 2}, {1, 4, 2, 5, 3, 6}));
  ops::Reshape reshape;
  reshape.shape = {3, -1};
  CHECK(one(reshape, {a}) == floats({3, 2}, {1, 2, 3, 4, 5, 6}));
  ops::Broadcast broadcast;
  broadcast.shape = {2, 2, 1};
  CHECK(one(broadcast, {floats({2, 1}, {1, 2})}) == floats({2, 2, 1}, {1, 2, 1, 2}));
  ops::Concat concat;
  concat.axis = -1;
  CHECK(one(concat, {a, floats({2, 1}, {7, 8})}) == floats({2, 4}, {1, 2, 3, 7, 4, 5, 6, 8}));
  ops::Slice slice;
  slice.starts = {0, 0};
  slice.ends = {2, 3};
  slice.strides = {1, 2};
  CHECK(one(slice, {a}) == floats({2, 2}, {1, 3, 4, 6}));
  ops::Pad pad;
  pad.low = {1};
  pad.high = {2};
  pad.interior = {1};
  pad.value = 9;
  CHECK(one(pad, {floats({2}, {1, 2})}) == floats({6}, {9, 1, 9, 2, 9, 9}));
}

TEST_CASE("evaluate: a fused body rounds after every instruction, then reduces") {
  ops::Fused op;
  // (x * y) - z in f16, where x * y = 2049 rounds to 2048: the difference is 0, not 1.
  op.body.instructions = {{OpKind::Mul, 0, ElementType::F16, {0, 1}},
                          {OpKind::Sub, 0, ElementType::F16, {3, 2}}};
  const std::vector<Literal> operands = {of(ElementType::F16, {683, 2}), of(ElementType::F16, {3}),
                                         of(ElementType::F16, {2048})};
  CHECK(one(op, operands) == of(ElementType::F16, {0, -2042})); // 6 - 2048 = -2042, even: exact
  op.reduction = ops::Fused::Reduction::Sum;
  op.axes = {0};
  op.keepDims = true;
  CHECK(one(op, operands) == of(ElementType::F16, {-2042}));
}

TEST_CASE("evaluate: a step gives fetches and the parameters' next values") {
  Builder g("step");
  const Tensor x = g.input("x", f32({2}));
  const Tensor w = g.parameter("w", f32({2}));
  const Tensor kept = g.parameter("kept", f32({}));
  g.assign(w, w + x);
  g.fetch("product", w * x * kept); // reads the old w
  const Result<Graph> graph = std::move(g).finish();
  const Result<Evaluation> step = evaluate(*graph, {{"x", floats({2}, {1, 2})}},
                                           {{"w", floats({2}, {10, 20})}, {"kept", floats({}, {3})}});
  REQUIRE(step.ok());
  CHECK(step->fetches.at("product") == floats({2}, {30, 120}));
  CHECK(step->parameters.at("w") == floats({2}, {11, 22}));
  CHECK(step->parameters.at("kept") == floats({}, {3}));
}

TEST_CASE("evaluate: every missing, wrong and unknown value is named, and so is a request") {
  Builder g("wrong");
  const Tensor image = g.input("image", f32({2}));
  const Tensor label = g.input("label", i32({2}));
  const Tensor w = g.parameter("w", f32({2}));
  const Tensor loss = reduceSum(image * w);
  g.fetch("derivative", g.op(ops::Gradients{}, {loss, w}, std::source_location::current()));
  g.fetch("label", label);
  const Result<Graph> graph = std::move(g).finish();
  const Result<Evaluation> step =
      evaluate(*graph, {{"imgae", floats({2}, {1, 2})}, {"label", floats({2}, {1, 2})}}, {});
  REQUIRE_FALSE(step.ok());
  std::vector<std::string> messages;
  for (const Diagnostic& error : step.errors()) {
    messages.push_back(error.message + " | " + error.hint);
  }
  CHECK(messages == std::vector<std::string>{
                        "input 'image' of f32[2] has no value | give one",
                        "input 'label' is i32[2], but its value is f32[2] | give a value of that type",
                        "the graph has no input 'imgae' | did you mean 'image'?",
                        "parameter 'w' of f32[2] has no value | give one",
                        "'gradients' is a request for gradients, which has no value | run the pass "
                        "`gradients` first"});
}

TEST_CASE("evaluate: every op of the table, over random graphs") {
  std::set<OpKind> met;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const Graph graph = test::randomGraph(seed);
    const auto mood = seed % 2 == 0 ? test::Mood::Tame : test::Mood::Wild;
    const auto values = evaluateValues(graph, test::randomFeeds(graph, seed, mood),
                                       test::randomParameters(graph, seed, mood));
    REQUIRE(values.ok());
    for (const ValueId value : graph.values()) {
      REQUIRE((*values)[value].type() == graph.typeOf(value));
    }
    for (const OpId op : graph.ops()) {
      met.insert(graph[op].kind());
    }
  }
  for (const OpKind kind : test::computingKinds()) {
    INFO(nameOf(kind));
    CHECK(met.count(kind) == 1);
  }
}

TEST_CASE("random graphs: the same seed gives the same graph, options are kept") {
  test::RandomGraphOptions options;
  options.elements = {ElementType::F64};
  options.kinds = {OpKind::Add, OpKind::Relu, OpKind::Broadcast};
  options.pins = {"gpu0"};
  options.state = false;
  options.zeroSized = false;
  const Graph graph = test::randomGraph(7, options), again = test::randomGraph(7, options);
  REQUIRE(graph.opCount() == again.opCount());
  bool pinned = false;
  for (const OpId op : graph.ops()) {
    CHECK(sameAttributes(graph[op].attributes, again[op].attributes));
    CHECK(graph[op].operands == again[op].operands);
    CHECK(graph[op].kind() != OpKind::Parameter);
    CHECK(graph.typeOf(graph[op].firstResult).element == ElementType::F64);
    CHECK(graph.typeOf(graph[op].firstResult).shape.elements() > 0);
    pinned = pinned || graph.pinOf(op) == "gpu0";
  }
  CHECK(pinned);
  CHECK_FALSE(graph.fetches().empty());
}

} // namespace dfc
