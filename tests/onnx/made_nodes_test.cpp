// Nodes that newer versions of ONNX test and Debian's suite does not have: their attributes and operands mean
// what ONNX says. Expected numbers are the arithmetic of a few elements.
#include "ir/graph/formula/formulas.h"
#include "ir/graph/formula/value.h"
#include "tests/onnx/made_node.h"
#include "tests/support/catch.h"

#include <cmath>
#include <limits>

namespace dfc::test {
namespace {

using Attributes = std::map<std::string, OnnxAttribute>;

std::string resizeOutcome(Attributes attributes, const std::vector<std::optional<Literal>>& operands,
                          const Literal& wanted) {
  return outcomeOf({"Resize", 19, std::move(attributes), operands, {wanted}});
}

// Of a line of elements.
std::string poolOutcome(const std::string& op, Attributes attributes, const std::vector<double>& from,
                        const std::vector<double>& wanted) {
  return outcomeOf({op,
                    19,
                    std::move(attributes),
                    {floats({1, 1, static_cast<int64_t>(from.size())}, from)},
                    {floats({1, 1, static_cast<int64_t>(wanted.size())}, wanted)}});
}

std::string reduceOutcome(const std::string& op, const Literal& from, const Literal& axes,
                          const Literal& wanted) {
  return outcomeOf({op, 20, {{"keepdims", integerAttribute(0)}}, {from, axes}, {wanted}});
}

} // namespace

TEST_CASE("onnx: Resize of some axes") {
  const Attributes nearest = {{"axes", listAttribute({-1})},
                              {"coordinate_transformation_mode", textAttribute("asymmetric")},
                              {"nearest_mode", textAttribute("floor")}};
  const Literal a = floats({2, 2}, {1, 2, 3, 4}), wanted = floats({2, 4}, {1, 1, 2, 2, 3, 3, 4, 4});
  CHECK(resizeOutcome(nearest, {a, {}, floats({1}, {2})}, wanted) == "passes");
  CHECK(resizeOutcome(nearest, {a, {}, {}, whole({4})}, wanted) == "passes");
}

TEST_CASE("onnx: Resize that keeps the ratio takes one scale for all axes") {
  const auto policy = [](const char* name) {
    return Attributes{{"keep_aspect_ratio_policy", textAttribute(name)}};
  };
  const Literal a = floats({1, 2}, {1, 2});
  // Asked for are scales of 2 and 3.
  const std::vector<std::optional<Literal>> operands = {a, {}, {}, whole({2, 6})};
  CHECK(resizeOutcome(policy("not_larger"), operands, floats({2, 4}, {1, 1, 2, 2, 1, 1, 2, 2})) == "passes");
  const std::vector<double> thrice = {1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2};
  CHECK(resizeOutcome(policy("not_smaller"), operands, floats({3, 6}, thrice)) == "passes");
}

TEST_CASE("onnx: Resize by half_pixel_symmetric keeps the centre") {
  const Attributes symmetric = {{"mode", textAttribute("linear")},
                                {"coordinate_transformation_mode", textAttribute("half_pixel_symmetric")}};
  // 4 * 0.6 = 2.4, of which 2 are made: the first stands at 2 * (1 - 2 / 2.4) + 0.5 / 0.6 - 0.5 = 2/3, the
  // second 1 / 0.6 = 5/3 further.
  CHECK(resizeOutcome(symmetric, {floats({1, 4}, {1, 2, 3, 4}), {}, floats({2}, {1, 0.6})},
                      floats({1, 2}, {5.0 / 3, 10.0 / 3})) == "passes");
}

// A long axis, where new elements are sums of a few old ones and not a product with all.
TEST_CASE("onnx: Resize of long axes blends the elements beside each place") {
  constexpr int64_t rows = 20, columns = 24, from = rows * columns, made = 4 * from;
  const auto picture = [](double row, double column, int64_t channel) {
    return 3 * row + column + 100 * static_cast<double>(channel);
  };
  // Twice as many along both axes: element i stands at (i + 0.5) / 2 - 0.5.
  const auto placeOf = [](int64_t i) { return (static_cast<double>(i) + 0.5) / 2 - 0.5; };
  const auto weight = [](double d) { // Keys 1981, a = -0.75
    return d <= 1 ? (1.25 * d - 2.25) * d * d + 1 : ((-0.75 * d + 3.75) * d - 6) * d + 3;
  };
  const auto cubic = [&](int64_t i, int64_t length) { // of a line of numbers 0, 1, 2, …
    double sum = 0;
    const double place = placeOf(i), first = std::floor(place) - 1;
    for (double at = first; at < first + 4; ++at) {
      sum += weight(std::fabs(place - at)) * std::fmin(std::fmax(at, 0), static_cast<double>(length - 1));
    }
    return sum;
  };
  std::vector<double> given, linear, keys;
  for (int64_t i = 0; i < 2 * from; ++i) {
    given.push_back(
        picture(static_cast<double>(i / columns % rows), static_cast<double>(i % columns), i / from));
  }
  for (int64_t i = 0; i < 2 * made; ++i) {
    const int64_t row = i / (2 * columns) % (2 * rows), column = i % (2 * columns);
    const auto clamped = [&](int64_t at, int64_t length) {
      return std::fmin(std::fmax(placeOf(at), 0), static_cast<double>(length - 1));
    };
    linear.push_back(picture(clamped(row, rows), clamped(column, columns), i / made));
    keys.push_back(picture(cubic(row, rows), cubic(column, columns), i / made));
  }
  const std::vector<std::optional<Literal>> operands = {
      floats({1, 2, rows, columns}, given), {}, floats({4}, {1, 1, 2, 2})};
  CHECK(resizeOutcome({{"mode", textAttribute("linear")}}, operands,
                      floats({1, 2, 2 * rows, 2 * columns}, linear)) == "passes");
  CHECK(resizeOutcome({{"mode", textAttribute("cubic")}}, operands,
                      floats({1, 2, 2 * rows, 2 * columns}, keys)) == "passes");
}

TEST_CASE("onnx: Resize of opset 10 takes its scales from operand 1") {
  CHECK(outcomeOf({"Resize",
                   10,
                   {},
                   {floats({1, 2}, {1, 2}), floats({2}, {1, 2})},
                   {floats({1, 4}, {1, 1, 2, 2})}}) == "passes");
}

TEST_CASE("onnx: Pad of some axes, periodically, and by less than nothing") {
  const Literal a = floats({2, 2}, {1, 2, 3, 4});
  CHECK(
      outcomeOf({"Pad", 18, {}, {a, whole({1, 0}), {}, whole({-1})}, {floats({2, 3}, {0, 1, 2, 0, 3, 4})}}) ==
      "passes");
  const Literal line = floats({3}, {1, 2, 3});
  CHECK(outcomeOf({"Pad",
                   19,
                   {{"mode", textAttribute("wrap")}},
                   {line, whole({2, 4})},
                   {floats({9}, {2, 3, 1, 2, 3, 1, 2, 3, 1})}}) == "passes");
  CHECK(outcomeOf({"Pad", 18, {}, {line, whole({-1, 1}), floats({}, {9})}, {floats({3}, {2, 3, 9})}}) ==
        "passes");
}

TEST_CASE("onnx: dilations of pools") {
  Attributes attributes = {{"kernel_shape", listAttribute({2})}, {"dilations", listAttribute({2})}};
  CHECK(poolOutcome("AveragePool", attributes, {1, 2, 3, 4}, {2, 3}) == "passes"); // (1 + 3) / 2, (2 + 4) / 2
  CHECK(poolOutcome("MaxPool", attributes, {5, 2, 3, 4}, {5, 4}) == "passes");
  attributes["pads"] = listAttribute({1, 1});
  CHECK(poolOutcome("AveragePool", attributes, {1, 2, 3, 4}, {2, 2, 3, 3}) == "passes");
  attributes["count_include_pad"] = integerAttribute(1);
  CHECK(poolOutcome("AveragePool", attributes, {1, 2, 3, 4}, {1, 2, 3, 1.5}) == "passes");
}

TEST_CASE("onnx: ceil_mode has no window that starts in the padding at the end") {
  Attributes attributes = {{"kernel_shape", listAttribute({1})},
                           {"strides", listAttribute({3})},
                           {"ceil_mode", integerAttribute(1)}};
  // Starts at 0 and 3, with and without padding there.
  CHECK(poolOutcome("MaxPool", attributes, {1, 2, 3}, {1}) == "passes");
  CHECK(poolOutcome("MaxPool", attributes, {1, 2, 3, 4}, {1, 4}) == "passes");
  attributes["pads"] = listAttribute({0, 0});
  CHECK(poolOutcome("AveragePool", attributes, {1, 2, 3}, {1}) == "passes");
  attributes["kernel_shape"] = listAttribute({2});
  attributes["pads"] = listAttribute({0, 1});
  CHECK(poolOutcome("MaxPool", attributes, {1, 2, 3}, {2}) == "passes");
}

TEST_CASE("onnx: what ceil_mode adds behind the padding is not counted") {
  const Attributes attributes = {{"kernel_shape", listAttribute({3})},
                                 {"strides", listAttribute({2})},
                                 {"pads", listAttribute({1, 0})},
                                 {"ceil_mode", integerAttribute(1)},
                                 {"count_include_pad", integerAttribute(1)}};
  // Windows of 0 1 2, of 2 3 4, and of 4 5 and one element that the node does not ask for.
  CHECK(poolOutcome("AveragePool", attributes, {1, 2, 3, 4, 5}, {1, 3, 4.5}) == "passes");
}

TEST_CASE("onnx: MatMul of vectors") {
  const Literal v = floats({2}, {1, 2}), w = floats({2}, {3, 4});
  const Literal m = floats({2, 3}, {1, 2, 3, 4, 5, 6}), t = floats({3}, {1, 0, 2});
  const Literal batch = floats({2, 1, 2}, {1, 2, 3, 4});
  CHECK(outcomeOf({"MatMul", 13, {}, {v, w}, {floats({}, {11})}}) == "passes");
  CHECK(outcomeOf({"MatMul", 13, {}, {v, m}, {floats({3}, {9, 12, 15})}}) == "passes");
  CHECK(outcomeOf({"MatMul", 13, {}, {m, t}, {floats({2}, {7, 16})}}) == "passes");
  CHECK(outcomeOf({"MatMul", 13, {}, {batch, w}, {floats({2, 1}, {11, 25})}}) == "passes");
  CHECK(outcomeOf({"MatMul", 13, {}, {w, floats({2, 2, 1}, {1, 2, 3, 4})}, {floats({2, 1}, {11, 25})}}) ==
        "passes");
}

TEST_CASE("onnx: the largest and the smallest of bools and of nothing") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto bools = [](const Shape& shape, const std::vector<double>& values) {
    return literal(ElementType::Bool, shape, values);
  };
  const Literal rows = bools({3, 2}, {0, 0, 0, 1, 1, 1}), one = whole({1});
  CHECK(reduceOutcome("ReduceMax", rows, one, bools({3}, {0, 1, 1})) == "passes");
  CHECK(reduceOutcome("ReduceMin", rows, one, bools({3}, {0, 0, 1})) == "passes");
  const Literal nothing = floats({2, 0}, {});
  CHECK(reduceOutcome("ReduceMax", nothing, one, floats({2}, {-infinity, -infinity})) == "passes");
  CHECK(reduceOutcome("ReduceMin", nothing, one, floats({2}, {infinity, infinity})) == "passes");
  CHECK(reduceOutcome("ReduceMin", bools({2, 0}, {}), one, bools({2}, {1, 1})) == "passes");
  CHECK(reduceOutcome("ReduceMax", bools({2, 0}, {}), one, bools({2}, {0, 0})) == "passes");
  Literal greatest = Literal::scalar(std::numeric_limits<int64_t>::max());
  CHECK(reduceOutcome("ReduceMin", whole({}), whole({0}), greatest) == "passes");
  CHECK(reduceOutcome("ReduceSum", nothing, one, floats({2}, {0, 0})) == "passes");
  CHECK(reduceOutcome("ReduceMean", nothing, one, nothing) ==
        "out of scope: ReduceMean with no elements to take the mean of");
}

TEST_CASE("onnx: a result that is not the expected infinity fails") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const Literal a = floats({1}, {infinity}), b = floats({1}, {1});
  CHECK(outcomeOf({"Add", 14, {}, {a, b}, {floats({1}, {infinity})}}) == "passes");
  CHECK(outcomeOf({"Add", 14, {}, {a, b}, {floats({1}, {-infinity})}}) ==
        "FAILS: the evaluator, output 0: element 0 is inf instead of -inf");
  CHECK(outcomeOf({"Add", 14, {}, {b, b}, {a}}) ==
        "FAILS: the evaluator, output 0: element 0 is 2 instead of inf");
}

TEST_CASE("onnx: PRelu has a slope for each channel before opset 7, and broadcasts since") {
  const Literal a = floats({1, 2, 2}, {-1, -2, -3, -4}), slope = floats({2}, {0.5, 0.25});
  CHECK(outcomeOf({"PRelu", 6, {}, {a, slope}, {floats({1, 2, 2}, {-0.5, -1, -0.75, -1})}}) == "passes");
  CHECK(outcomeOf({"PRelu", 7, {}, {a, slope}, {floats({1, 2, 2}, {-0.5, -0.5, -1.5, -1})}}) == "passes");
}

TEST_CASE("onnx: ArgMin of integers, SpaceToDepth channel by channel") {
  CHECK(outcomeOf({"ArgMin",
                   13,
                   {{"keepdims", integerAttribute(0)}},
                   {literal(ElementType::U8, {3}, {3, 0, 7})},
                   {literal(ElementType::I64, {}, {1})}}) == "passes");
  const Literal a = floats({1, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  Attributes attributes = {{"blocksize", integerAttribute(2)}, {"mode", textAttribute("CRD")}};
  CHECK(outcomeOf({"SpaceToDepth", 13, attributes, {a}, {floats({1, 8, 1, 1}, {1, 2, 3, 4, 5, 6, 7, 8})}}) ==
        "passes");
  attributes["mode"] = textAttribute("DCR");
  CHECK(outcomeOf({"SpaceToDepth", 13, attributes, {a}, {floats({1, 8, 1, 1}, {1, 5, 2, 6, 3, 7, 4, 8})}}) ==
        "passes");
}

TEST_CASE("onnx: a formula op that names its ONNX op serves nodes without attributes") {
  for (const FormulaFacts* formula : allFormulas()) {
    if (formula->onnxName.empty()) {
      continue;
    }
    INFO(formula->onnxName);
    std::vector<std::optional<Literal>> operands;
    for (size_t i = 0; i < formula->operands; ++i) {
      operands.emplace_back(floats({5}, {0.25, 0.5, 1, 2, 3}));
    }
    Literal wanted = floats({5}, {0, 0, 0, 0, 0});
    for (int64_t i = 0; i < 5; ++i) {
      const std::vector<double> in(formula->operands, operands[0]->at(i));
      wanted.set(i, static_cast<double>(formula::valueOf(formula->kind, 0, in)));
    }
    const std::string op(formula->onnxName);
    CHECK(outcomeOf({op, 20, {}, operands, {wanted}}) == "passes");
    CHECK(outcomeOf({op, 20, {{"surprise", integerAttribute(1)}}, operands, {wanted}}).find("out of scope") ==
          0);
  }
}

// Weights and first states of 1 and 0: forwards h1 = tanh(x1), h2 = tanh(x2 + h1), backwards the other way.
TEST_CASE("onnx: RNN both ways, and sequences that end before others") {
  const Literal ones = floats({2, 1, 1}, {1, 1});
  const Attributes both = {{"hidden_size", integerAttribute(1)},
                           {"direction", textAttribute("bidirectional")}};
  const double f1 = std::tanh(1), f2 = std::tanh(2 + f1), b2 = std::tanh(2), b1 = std::tanh(1 + b2);
  CHECK(outcomeOf({"RNN",
                   14,
                   both,
                   {floats({2, 1, 1}, {1, 2}), ones, ones},
                   {floats({2, 2, 1, 1}, {f1, b1, f2, b2}), floats({2, 1, 1}, {f2, b1})}}) == "passes");
  // The first of the batch ends behind its first step, where the backward way begins for it.
  CHECK(outcomeOf({"RNN",
                   14,
                   both,
                   {floats({2, 2, 1}, {1, 1, 2, 2}), ones, ones, {}, literal(ElementType::I32, {2}, {1, 2})},
                   {floats({2, 2, 2, 1}, {f1, f1, f1, b1, 0, f2, 0, b2}),
                    floats({2, 2, 1}, {f1, f2, f1, b1})}}) == "passes");
  OnnxAttribute relu;
  relu.texts = {"Relu"};
  const Attributes reversed = {{"direction", textAttribute("reverse")}, {"activations", relu}};
  const Literal one = floats({1, 1, 1}, {1});
  CHECK(outcomeOf({"RNN",
                   14,
                   reversed,
                   {floats({2, 1, 1}, {1, 2}), one, one},
                   {floats({2, 1, 1, 1}, {3, 2}), floats({1, 1, 1}, {3})}}) == "passes");
}

// Ones of 3 x 2 x 2 under a window of ones of 2 x 2 x 1, padded by one in front: the first place on the first
// axis sees one slab of 2, the others two.
TEST_CASE("onnx: a convolution over three axes") {
  const Literal ones = floats({1, 1, 3, 2, 2}, std::vector<double>(12, 1));
  const Attributes padded = {{"pads", listAttribute({1, 0, 0, 0, 0, 0})}};
  const Literal filter = floats({1, 1, 2, 2, 1}, {1, 1, 1, 1});
  CHECK(outcomeOf({"Conv",
                   18,
                   padded,
                   {ones, filter, floats({1}, {0.5})},
                   {floats({1, 1, 3, 1, 2}, {2.5, 2.5, 4.5, 4.5, 4.5, 4.5})}}) == "passes");
}

TEST_CASE("onnx: determinants of small matrices") {
  CHECK(outcomeOf({"Det", 11, {}, {floats({1, 1}, {-3})}, {floats({}, {-3})}}) == "passes");
  CHECK(outcomeOf({"Det",
                   11,
                   {},
                   {floats({2, 3, 3}, {2, 0, 1, 1, 3, 0, 0, 1, 4, 0, 1, 0, 1, 0, 0, 0, 0, 1})},
                   {floats({2}, {2 * 12 + 1 * 1, -1})}}) == "passes");
  // Of two blocks: (1 * 4 - 2 * 3) * (5 * 1 - 2 * 2).
  CHECK(outcomeOf({"Det",
                   11,
                   {},
                   {floats({4, 4}, {1, 2, 9, 9, 3, 4, 9, 9, 0, 0, 5, 2, 0, 0, 2, 1})},
                   {floats({}, {-2})}}) == "passes");
  CHECK(outcomeOf({"Det", 11, {}, {floats({2, 3}, {1, 2, 3, 4, 5, 6})}}) ==
        "out of scope: Det with matrices of shape [2, 3]");
  CHECK(outcomeOf({"Det", 11, {}, {floats({5, 5}, std::vector<double>(25, 1))}}) ==
        "out of scope: Det with matrices of more than 4 x 4");
}

} // namespace dfc::test
