// What must hold of every split graph, over random graphs and random splits that the rules allow: evaluated,
// it gives what the unsplit graph gives, to the bit where every sum is exact and within rounding elsewhere;
// and wherever its parts run, the bits of the same parts on one device.
#include "compiler/interpreter/evaluate.h"
#include "ir/author/text/print.h"
#include "ir/graph/graph.h"
#include "ir/verify/verify.h"
#include "tests/property/plan_runs.h"
#include "tests/property/random_split.h"

#include <fmt/format.h>

#include <cmath>

namespace dfc::test {
namespace {

/// Ops whose results are whole numbers where their operands are.
const std::vector<OpKind> exactKinds = {
    OpKind::Matmul,    OpKind::Add,        OpKind::Sub,     OpKind::Mul,       OpKind::Maximum,
    OpKind::Minimum,   OpKind::Neg,        OpKind::Abs,     OpKind::Relu,      OpKind::ReduceSum,
    OpKind::ReduceMax, OpKind::ReduceMin,  OpKind::Reshape, OpKind::Transpose, OpKind::Broadcast,
    OpKind::Concat,    OpKind::Split,      OpKind::Slice,   OpKind::Pad,       OpKind::Tile,
    OpKind::Gather,    OpKind::ScatterAdd, OpKind::OneHot,  OpKind::Iota,      OpKind::Trilu,
    OpKind::CumSum,    OpKind::Compare,    OpKind::Select,  OpKind::Sign,      OpKind::ArgMax};

Literal wholeNumber(const TensorType& type, Dice& dice) {
  Literal value(type);
  for (int64_t i = 0; i < type.shape.elements(); ++i) {
    value.set(i, static_cast<double>(type.element == ElementType::Bool ? dice.below(2) : dice.below(4)));
  }
  return value;
}

NamedLiterals wholeNumbersFor(const std::vector<NamedType>& wanted, Dice& dice) {
  NamedLiterals values;
  for (const NamedType& one : wanted) {
    values[one.name] = wholeNumber(one.type, dice);
  }
  return values;
}

/// The largest difference over what both give, relative to the largest number; infinite where types differ.
double distance(const Literal& a, const Literal& b) {
  if (!(a.type() == b.type())) {
    return HUGE_VAL;
  }
  double largest = 1, off = 0;
  for (int64_t i = 0; i < a.type().shape.elements(); ++i) {
    const double x = a.at(i), y = b.at(i);
    if (x != y && !(std::isnan(x) && std::isnan(y))) {
      off = std::max(off, std::abs(x - y));
      off = std::isfinite(x) && std::isfinite(y) ? off : HUGE_VAL;
    }
    largest = std::isfinite(x) ? std::max(largest, std::abs(x)) : largest;
  }
  return off / largest;
}

void checkSame(const NamedLiterals& whole, const NamedLiterals& split, double most) {
  for (const auto& [name, value] : whole) {
    INFO(name);
    const auto other = split.find(name);
    REQUIRE(other != split.end());
    CHECK(distance(value, other->second) <= most);
  }
}

/// The largest number of all values; infinite where one is not finite.
double largestOf(const Graph& graph, const NamedLiterals& feeds, const NamedLiterals& parameters) {
  const auto values = evaluateValues(graph, feeds, parameters);
  REQUIRE(values);
  double largest = 0;
  for (const ValueId value : values->ids()) {
    for (int64_t i = 0; i < (*values)[value].type().shape.elements(); ++i) {
      const double number = std::abs((*values)[value].at(i));
      largest = std::isfinite(number) ? std::max(largest, number) : HUGE_VAL;
    }
  }
  return largest;
}

// Above 2^52 sums of whole numbers are rounded, too. A product of a partial sum and an infinity is a number
// of another kind than that of the sum: such graphs promise nothing.
void checkEvaluated(const Graph& graph, const Graph& split, const NamedLiterals& feeds,
                    const NamedLiterals& parameters, double most) {
  const double largest = largestOf(graph, feeds, parameters);
  if (!std::isfinite(largest)) {
    return;
  }
  most = largest < 0x1p52 ? most : std::max(most, 1e-12);
  const auto whole = evaluate(graph, feeds, parameters);
  const auto inParts = evaluate(split, feeds, parameters);
  REQUIRE(whole);
  REQUIRE(inParts);
  checkSame(whole->fetches, inParts->fetches, most);
  checkSame(whole->parameters, inParts->parameters, most);
}

void checkExact(uint64_t seed) {
  Dice dice(seed);
  RandomGraphOptions options;
  options.ops = 8 + seed % 30;
  options.kinds = exactKinds;
  options.constants = false;
  options.elements = {ElementType::F64, ElementType::I64, ElementType::Bool};
  options.zeroSized = false;
  const Graph graph = randomGraph(seed, options);
  const Machine machine = machineOf({3, true, 1});
  const Graph split = randomSplit(graph, machine, 2 + seed % 2, dice);
  INFO("seed " << seed << "\n" << printGraph(graph) << "\nsplit:\n" << printGraph(split));
  CHECK(render(verifyGraph(split)) == "");
  checkEvaluated(graph, split, wholeNumbersFor(graph.inputs(), dice),
                 wholeNumbersFor(graph.parameters(), dice), 0);
}

// Ops that jump where their operands change by a rounding.
bool jumps(OpKind kind) {
  switch (kind) {
  case OpKind::Floor:
  case OpKind::Ceil:
  case OpKind::Round:
  case OpKind::Sign:
  case OpKind::Compare:
  case OpKind::ArgMax:
  case OpKind::TopK:
  case OpKind::Pow:
  case OpKind::MaxPoolGradient:
  case OpKind::Cast: return true;
  default: return false;
  }
}

void checkRounded(uint64_t seed) {
  Dice dice(seed);
  RandomGraphOptions options;
  options.ops = 8 + seed % 30;
  for (const OpKind kind : computingKinds()) {
    if (!jumps(kind)) {
      options.kinds.push_back(kind);
    }
  }
  options.elements = {ElementType::F64};
  options.zeroSized = false;
  const Graph graph = randomGraph(seed, options);
  const Machine machine = machineOf({3, true, 1});
  const Graph split = randomSplit(graph, machine, 2 + seed % 2, dice);
  INFO("seed " << seed << "\n" << printGraph(graph) << "\nsplit:\n" << printGraph(split));
  CHECK(render(verifyGraph(split)) == "");
  checkEvaluated(graph, split, randomFeeds(graph, seed), randomParameters(graph, seed), 1e-6);
}

void checkPlaced(uint64_t seed) {
  Dice dice(seed);
  RandomGraphOptions options;
  options.ops = 8 + seed % 30;
  options.zeroSized = false;
  const Graph graph = randomGraph(seed, options);
  const Machine machine = machineOf({3, seed % 4 != 0, 1});
  const Graph split = randomSplit(graph, machine, 2 + seed % 2, dice);
  INFO("seed " << seed << "\n" << printGraph(split));
  const auto outcome = [&](const Graph& one, const char* policy) {
    CompileOptions choices;
    choices.policy = policy;
    return run(planOf(one, machine, choices), graph, seed, 2);
  };
  checkSame(outcome(pinned(split, {}), "single"), outcome(split, "pins"));
}

template <class Check>
void forSeeds(uint64_t begin, uint64_t end, Check check) {
  for (uint64_t seed = begin; seed < end; ++seed) {
    check(seed);
  }
}

} // namespace

TEST_CASE("random splits give the unsplit graph's bits where sums are exact") {
  forSeeds(1, 301, checkExact);
}
TEST_CASE("random splits give the unsplit graph's values within rounding") { forSeeds(1, 301, checkRounded); }
TEST_CASE("random splits on emulated devices give the bits of one device") { forSeeds(1, 61, checkPlaced); }
TEST_CASE("random splits, the long run: values", "[heavy]") {
  forSeeds(1001, 6001, checkExact);
  forSeeds(1001, 6001, checkRounded);
}
// 10,000 graphs in parts, each short enough for one test of ctest.
TEST_CASE("random splits, the long run: devices, part 0", "[heavy]") { forSeeds(1001, 3501, checkPlaced); }
TEST_CASE("random splits, the long run: devices, part 1", "[heavy]") { forSeeds(3501, 6001, checkPlaced); }
TEST_CASE("random splits, the long run: devices, part 2", "[heavy]") { forSeeds(6001, 8501, checkPlaced); }
TEST_CASE("random splits, the long run: devices, part 3", "[heavy]") { forSeeds(8501, 11001, checkPlaced); }

} // namespace dfc::test
