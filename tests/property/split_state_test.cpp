// A split plan as its author sees it: parameters and inputs have the names and shapes of the unsplit graph,
// state saved on some devices is resumed on others, and what is drawn at random does not depend on the number
// of devices. Training on whole numbers and a step of a power of two is exact, so that sums of parts have the
// bits of the whole.
#include "ir/author/dsl.h"
#include "ir/author/gradients.h"
#include "ir/graph/graph.h"
#include "tests/property/plan_runs.h"
#include "tests/property/random_split.h"
#include "tests/support/repinned.h"

#include <fmt/format.h>

namespace dfc::test {
namespace {

constexpr int gpus = 5;

TensorType f64(const dfc::Shape& shape) { return {ElementType::F64, shape}; }

/// A layer trained with momentum, in f64.
Graph training() {
  Builder g("training");
  const Tensor x = g.input("x", f64({9, 7})), y = g.input("y", f64({9, 6}));
  const Tensor w = g.parameter("w", f64({7, 6})), b = g.parameter("b", f64({6})),
               speed = g.parameter("speed", f64({7, 6}));
  const Tensor error = matmul(x, w) + b - y;
  const Tensor loss = reduceSum(error * error);
  const auto slopes = gradients(loss, {w, b});
  const Tensor faster = 0.5 * speed + slopes[0];
  g.assign(speed, faster);
  g.assign(w, w - 0x1p-7 * faster);
  g.assign(b, b - 0x1p-7 * slopes[1]);
  g.fetch("loss", loss);
  return *std::move(g).finish();
}

NamedLiterals wholeNumbers(const std::vector<NamedType>& wanted, uint64_t seed) {
  Dice dice(seed);
  NamedLiterals values;
  for (const NamedType& one : wanted) {
    Literal value(one.type);
    for (int64_t i = 0; i < one.type.shape.elements(); ++i) {
      value.set(i, static_cast<double>(dice.below(5) - 2));
    }
    values[one.name] = value;
  }
  return values;
}

std::unique_ptr<Session> opened(const Graph& graph, const Machine& machine) {
  CompileOptions options;
  options.policy = "pins";
  SessionOptions emulated;
  emulated.gpuBackend = "emulated"; // bits are compared, also on a host with GPUs
  auto session = Session::open(planOf(graph, machine, options), emulated);
  INFO(render(session.errors()));
  REQUIRE(session.ok());
  return *std::move(session);
}

/// The graph over `devices` GPUs; on one GPU, unsplit.
Graph spread(const Graph& graph, const Machine& machine, size_t devices, Dice& dice) {
  return devices == 1 ? repinned(graph, [](OpId) { return std::string("gpu0"); })
                      : randomSplit(graph, machine, devices, dice);
}

void step(Session& session, const Graph& graph, uint64_t number) {
  const auto results = session.run(wholeNumbers(graph.inputs(), number));
  INFO(render(results.errors()));
  REQUIRE(results.ok());
}

void checkSame(const NamedLiterals& expected, const NamedLiterals& actual) {
  REQUIRE(actual.size() == expected.size());
  for (const auto& [name, value] : expected) {
    INFO(name);
    REQUIRE(actual.count(name) == 1);
    CHECK(bitDifference(value, actual.at(name)) == "");
  }
}

struct PartCount {
  size_t inputs = 0, parameters = 0;
  void add(const Graph& graph) {
    for (const OpId op : graph.ops()) {
      const auto* input = graph[op].getIf<ops::Input>();
      const auto* parameter = graph[op].getIf<ops::Parameter>();
      inputs += input != nullptr && input->part.isPart() ? 1 : 0;
      parameters += parameter != nullptr && parameter->part.isPart() ? 1 : 0;
    }
  }
};

/// Parameters drawn in every way, and what is left of an input and of a parameter by dropout.
Graph drawn() {
  Builder g("drawn");
  const Tensor x = g.input("x", f64({9, 7})), number = g.input("step", {ElementType::I64, dfc::Shape({})});
  const std::vector<Initialiser> ways = {constantInit(3), uniform(-1, 1, 5), normal(1, 2, 6),
                                         glorot(7),       heNormal(8),       heUniform(9)};
  Tensor sum = dropout(x, number, 0.25, 11);
  g.fetch("mask", sum);
  for (const Initialiser& way : ways) {
    const Tensor weights = g.parameter(fmt::format("weights{}", &way - ways.data()), f64({9, 7}), way);
    sum = sum * weights;
    g.assign(weights, weights + x);
  }
  g.fetch("product", abs(sum)); // a partial sum may turn -0 into 0
  g.fetch("rows", dropout(abs(sum), number, 0.5, 12));
  return *std::move(g).finish();
}

NamedLiterals feedsOf(const Graph& graph, int64_t number) {
  NamedLiterals feeds = wholeNumbers(graph.inputs(), 3);
  feeds.at("step").set(0, static_cast<double>(number));
  return feeds;
}

} // namespace

TEST_CASE("split plans: state has the author's names, and is resumed on other numbers of devices") {
  const Graph graph = training();
  const Machine machine = machineOf({gpus, true, 1});
  const NamedLiterals start = wholeNumbers(graph.parameters(), 77);
  Dice none(0);
  const auto whole = opened(spread(graph, machine, 1, none), machine);
  REQUIRE(whole->setState(start).ok());
  step(*whole, graph, 0), step(*whole, graph, 1);
  const NamedLiterals middle = whole->state();
  step(*whole, graph, 2);
  const NamedLiterals end = whole->state();
  PartCount parts;
  for (uint64_t seed = 0; seed < 24; ++seed) {
    INFO("seed " << seed);
    Dice dice(seed);
    const Graph two = spread(graph, machine, 2, dice);
    parts.add(two);
    const auto saving = opened(two, machine);
    REQUIRE(saving->checkWholeState(start).empty());
    REQUIRE(saving->setState(start).ok());
    checkSame(start, saving->state());
    step(*saving, graph, 0), step(*saving, graph, 1);
    const NamedLiterals saved = saving->state();
    checkSame(middle, saved);
    for (const size_t devices : {1, 3, 5}) {
      INFO(devices << " devices");
      const auto resumed = opened(spread(graph, machine, devices, dice), machine);
      REQUIRE(resumed->setState(saved).ok());
      checkSame(saved, resumed->state());
      step(*resumed, graph, 2);
      checkSame(end, resumed->state());
    }
  }
  CHECK(parts.inputs > 4);
  CHECK(parts.parameters > 4);
}

TEST_CASE("split plans: state of another shape, or of a part's name, is refused") {
  const Graph graph = training();
  const Machine machine = machineOf({gpus, true, 1});
  for (uint64_t seed = 0; seed < 8; ++seed) {
    Dice dice(seed);
    const Graph split = spread(graph, machine, 3, dice);
    const auto session = opened(split, machine);
    const NamedLiterals before = session->state();
    CHECK_FALSE(session->setState({{"w", Literal(f64({7, 2}))}}).ok());
    CHECK_FALSE(session->setState({{"w.gpu1", Literal(f64({7, 6}))}}).ok());
    checkSame(before, session->state());
  }
}

TEST_CASE("split plans: initial weights and dropout do not depend on the number of devices") {
  const Graph graph = drawn();
  const Machine machine = machineOf({gpus, true, 1});
  Dice none(0);
  const auto whole = opened(spread(graph, machine, 1, none), machine);
  const NamedLiterals weights = whole->state();
  std::vector<NamedLiterals> expected;
  for (int64_t number = 0; number < 2; ++number) {
    expected.push_back(*whole->run(feedsOf(graph, number)));
  }
  CHECK(bitDifference(expected[0].at("mask"), expected[1].at("mask")) != ""); // another mask in each step
  PartCount parts;
  for (uint64_t seed = 0; seed < 24; ++seed) {
    for (const size_t devices : {2, 3, 5}) {
      INFO("seed " << seed << ", " << devices << " devices");
      Dice dice(seed);
      const Graph split = spread(graph, machine, devices, dice);
      parts.add(split);
      const auto session = opened(split, machine);
      checkSame(weights, session->state());
      for (int64_t number = 0; number < 2; ++number) {
        const auto results = session->run(feedsOf(graph, number));
        REQUIRE(results.ok());
        checkSame(expected[static_cast<size_t>(number)], *results);
      }
    }
  }
  CHECK(parts.parameters > 40);
}

} // namespace dfc::test
