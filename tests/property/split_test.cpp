// What must hold of every split graph, over random graphs and random splits that the rules allow: evaluated,
// it gives what the unsplit graph gives, to the bit where every sum is exact and within rounding elsewhere;
// and wherever its parts run, the bits of the same parts on one device.
#include "compiler/interpreter/evaluate.h"
#include "compiler/split/pipeline/micro_batches.h"
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
const std::vector<OpKind> exactKinds = {OpKind::Matmul,       OpKind::Add,
                                        OpKind::Sub,          OpKind::Mul,
                                        OpKind::Maximum,      OpKind::Minimum,
                                        OpKind::Neg,          OpKind::Abs,
                                        OpKind::Relu,         OpKind::ReduceSum,
                                        OpKind::ReduceMax,    OpKind::ReduceMin,
                                        OpKind::Reshape,      OpKind::Transpose,
                                        OpKind::Broadcast,    OpKind::Concat,
                                        OpKind::Split,        OpKind::Slice,
                                        OpKind::Pad,          OpKind::Tile,
                                        OpKind::DynamicSlice, OpKind::DynamicUpdateSlice,
                                        OpKind::Gather,       OpKind::ScatterAdd,
                                        OpKind::OneHot,       OpKind::Iota,
                                        OpKind::Trilu,        OpKind::CumSum,
                                        OpKind::Compare,      OpKind::Select,
                                        OpKind::Sign,         OpKind::ArgMax};

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
bool checkEvaluated(const Graph& graph, const Graph& split, const NamedLiterals& feeds,
                    const NamedLiterals& parameters, double most) {
  const double largest = largestOf(graph, feeds, parameters);
  if (!std::isfinite(largest)) {
    return false;
  }
  most = largest < 0x1p52 ? most : std::max(most, 1e-12);
  const auto whole = evaluate(graph, feeds, parameters);
  const auto inParts = evaluate(split, feeds, parameters);
  REQUIRE(whole);
  REQUIRE(inParts);
  checkSame(whole->fetches, inParts->fetches, most);
  checkSame(whole->parameters, inParts->parameters, most);
  return true;
}

struct Drawn {
  Graph graph, split;
  std::string text() const { return printGraph(graph) + "\nsplit:\n" + printGraph(split); }
};

enum class Axes : uint8_t { One, Two };

Drawn drawn(uint64_t seed, RandomGraphOptions options, Axes axes, const Machine& machine, Dice& dice) {
  options.ops = 8 + seed % 30;
  options.zeroSized = false;
  Graph graph = randomGraph(seed, options);
  Graph split = axes == Axes::One ? randomSplit(graph, machine, 2 + seed % 2, dice)
                                  : randomGrid(graph, machine, 2 + seed % 2, 2 + seed / 2 % 2, dice);
  INFO("seed " << seed << "\n" << printGraph(split));
  CHECK(render(verifyGraph(split)) == "");
  return {std::move(graph), std::move(split)};
}

Machine machineWith(Axes axes, bool peers) { return machineOf({axes == Axes::One ? 3 : 9, peers, 1}); }

/// Whether it was looked at: see `checkEvaluated`.
bool checkExact(uint64_t seed, Axes axes) {
  Dice dice(seed);
  RandomGraphOptions options;
  options.kinds = exactKinds;
  options.constants = false;
  options.elements = {ElementType::F64, ElementType::I64, ElementType::Bool};
  const Drawn both = drawn(seed, options, axes, machineWith(axes, true), dice);
  INFO("seed " << seed << "\n" << both.text());
  const NamedLiterals feeds = wholeNumbersFor(both.graph.inputs(), dice);
  return checkEvaluated(both.graph, both.split, feeds, wholeNumbersFor(both.graph.parameters(), dice), 0);
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

// Ops that make infinities and NaNs of ordinary numbers.
bool mayLeaveNumbers(OpKind kind) {
  return kind == OpKind::Log || kind == OpKind::Sqrt || kind == OpKind::Rsqrt || kind == OpKind::Reciprocal ||
         kind == OpKind::Div;
}

bool checkRounded(uint64_t seed, Axes axes) {
  Dice dice(seed);
  RandomGraphOptions options;
  const bool numbersAlone = seed % 3 != 0;
  for (const OpKind kind : computingKinds()) {
    if (!jumps(kind) && !(numbersAlone && mayLeaveNumbers(kind))) {
      options.kinds.push_back(kind);
    }
  }
  options.elements = {ElementType::F64};
  const Drawn both = drawn(seed, options, axes, machineWith(axes, true), dice);
  INFO("seed " << seed << "\n" << both.text());
  return checkEvaluated(both.graph, both.split, randomFeeds(both.graph, seed),
                        randomParameters(both.graph, seed), 1e-6);
}

bool checkPlaced(uint64_t seed, Axes axes) {
  Dice dice(seed);
  const Machine machine = machineWith(axes, seed % 4 != 0);
  const Drawn both = drawn(seed, {}, axes, machine, dice);
  INFO("seed " << seed << "\n" << printGraph(both.split));
  const auto outcome = [&](const Graph& one, const char* policy) {
    CompileOptions choices;
    choices.policy = policy;
    return run(planOf(one, machine, choices), both.graph, seed, 2);
  };
  checkSame(outcome(pinned(both.split, {}), "single"), outcome(both.split, "pins"));
  return true;
}

/// In parts of the batch, every other time behind a random split. Empty where no input can be cut.
std::optional<Drawn> drawnInBatches(uint64_t seed, const RandomGraphOptions& options, Dice& dice) {
  const Axes axes = seed % 8 < 6 ? Axes::One : Axes::Two;
  Drawn both = drawn(seed, options, axes, machineWith(axes, true), dice);
  auto batches = microBatches(seed % 2 == 0 ? both.graph : both.split, 2 + seed % 3);
  if (!batches) {
    return std::nullopt;
  }
  INFO("seed " << seed << "\n" << printGraph(*batches));
  CHECK(render(verifyGraph(*batches)) == "");
  both.split = *std::move(batches);
  return both;
}

bool checkBatches(uint64_t seed) {
  Dice dice(seed);
  const bool isExact = seed % 4 < 2;
  RandomGraphOptions options;
  options.elements = {ElementType::F64};
  if (isExact) {
    options.kinds = exactKinds;
    options.constants = false;
  } else {
    for (const OpKind kind : computingKinds()) {
      if (!jumps(kind) && !mayLeaveNumbers(kind)) {
        options.kinds.push_back(kind);
      }
    }
  }
  const auto both = drawnInBatches(seed, options, dice);
  if (!both) {
    return false;
  }
  INFO("seed " << seed << "\n" << both->text());
  return isExact ? checkEvaluated(both->graph, both->split, wholeNumbersFor(both->graph.inputs(), dice),
                                  wholeNumbersFor(both->graph.parameters(), dice), 0)
                 : checkEvaluated(both->graph, both->split, randomFeeds(both->graph, seed),
                                  randomParameters(both->graph, seed), 1e-6);
}

auto along(Axes axes, bool (*check)(uint64_t, Axes)) {
  return [=](uint64_t seed) { return check(seed, axes); };
}

template <class Check>
void forSeeds(uint64_t begin, uint64_t end, Check check, uint64_t ofWhich = 2) {
  uint64_t checked = 0;
  for (uint64_t seed = begin; seed < end; ++seed) {
    checked += check(seed) ? 1U : 0U;
  }
  CHECK(checked > (end - begin) / ofWhich); // else little is tested
}

} // namespace

TEST_CASE("random splits give the unsplit graph's bits where sums are exact") {
  forSeeds(1, 301, along(Axes::One, checkExact));
}
TEST_CASE("random splits give the unsplit graph's values within rounding") {
  forSeeds(1, 301, along(Axes::One, checkRounded));
}
TEST_CASE("random splits on emulated devices give the bits of one device") {
  forSeeds(1, 61, along(Axes::One, checkPlaced));
}
TEST_CASE("random splits over groups and within them give the unsplit graph's values") {
  forSeeds(1, 101, along(Axes::Two, checkExact));
  forSeeds(1, 101, along(Axes::Two, checkRounded));
}
TEST_CASE("random splits over groups and within them on emulated devices give the bits of one device") {
  forSeeds(1, 31, along(Axes::Two, checkPlaced));
}
TEST_CASE("parts of the batch, one after the other, give the values of the whole batch") {
  forSeeds(1, 401, checkBatches, 5);
}
TEST_CASE("random splits, the long run: values", "[heavy]") {
  forSeeds(1001, 6001, along(Axes::One, checkExact));
  forSeeds(1001, 6001, along(Axes::One, checkRounded));
  forSeeds(1001, 3001, along(Axes::Two, checkExact));
  forSeeds(1001, 3001, along(Axes::Two, checkRounded));
}
// 10,000 graphs in parts, each short enough for one test of ctest.
TEST_CASE("random splits, the long run: devices, part 0", "[heavy]") {
  forSeeds(1001, 3501, along(Axes::One, checkPlaced));
}
TEST_CASE("random splits, the long run: devices, part 1", "[heavy]") {
  forSeeds(3501, 6001, along(Axes::One, checkPlaced));
}
TEST_CASE("random splits, the long run: devices, part 2", "[heavy]") {
  forSeeds(6001, 8501, along(Axes::One, checkPlaced));
}
TEST_CASE("random splits, the long run: devices, part 3", "[heavy]") {
  forSeeds(8501, 11001, along(Axes::One, checkPlaced));
}

} // namespace dfc::test
