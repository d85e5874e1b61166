// What every backend that computes must give: the reference evaluator's results, op by op and type by type,
// wherever the ops are placed, step after step, and the same bits every time.
#include "tests/conformance/agreement.h"
#include "tests/conformance/contenders.h"
#include "tests/conformance/require_plan.h"

#include "compiler/interpreter/evaluate.h"
#include "compiler/passes/passes.h"
#include "ir/graph/rewriter.h"
#include "runtime/backend.h"
#include "tests/support/catch.h"
#include "tests/support/random_graph.h"
#include "tests/support/repinned.h"
#include "tests/support/typed_body.h"

#include <fmt/format.h>

using namespace dfc;
using namespace dfc::test;

namespace {

std::unique_ptr<Session> opened(std::shared_ptr<const Executable> plan, const SessionOptions& options) {
  auto session = Session::open(std::move(plan), options);
  INFO(render(session.errors()));
  REQUIRE(session.ok());
  return *std::move(session);
}

std::string fetchName(ValueId value) { return fmt::format("value {}", value.index()); }

/// The same ops, with every value fetched and nothing else.
Graph fetchingAll(const Graph& graph) {
  Rewriter rewriter(graph);
  for (const OpId op : graph.ops()) {
    rewriter.copy(op);
  }
  for (const ValueId value : graph.values()) {
    rewriter.builder().fetch(fetchName(value), rewriter.mapped(value));
  }
  return std::move(rewriter).finish();
}

/// Runs the graph and holds every op against the evaluator, given the operands that the backend itself made.
void checkOpByOp(const Contender& contender, const Graph& source, uint64_t seed) {
  const Graph graph = fetchingAll(*decompose(source)); // composite ops that no kernel claims
  const auto session = opened(tinyPlan(graph, contender.machine()), contender.options());
  REQUIRE(session->setState(randomParameters(graph, seed)).ok());
  const auto results = session->run(randomFeeds(graph, seed));
  REQUIRE(results.ok());
  for (const OpId op : graph.ops()) {
    const OpRow& row = graph[op];
    if (!computes(row.kind())) {
      continue;
    }
    std::vector<Literal> operands;
    for (const ValueId operand : row.operands) {
      operands.push_back(results->at(fetchName(operand)));
    }
    const auto expected = evaluateOp(row.attributes, operands);
    for (const ValueId result : row.results()) {
      const size_t number = result.index() - row.firstResult.index();
      const std::string wrong =
          disagreement(row.attributes, operands, expected[number], results->at(fetchName(result)), number);
      if (!wrong.empty()) {
        FAIL_CHECK(contender.name << ", seed " << seed << ", " << nameOf(row.kind()) << " of "
                                  << toString(graph.typeOf(row.firstResult)) << ": " << wrong);
      }
    }
  }
}

/// One fusedMatmul of `element`, with `body` over the product, a row and a whole operand; seeds differ in
/// transposes and precision.
Graph fusedProduct(const Contender& contender, ElementType element, std::string body, uint64_t seed) {
  ops::FusedMatmul op;
  op.transposeA = seed % 2 != 0;
  op.transposeB = seed % 4 >= 2;
  op.precision = seed % 3 == 0 ? ops::Precision::Tf32 : ops::Precision::Ieee;
  REQUIRE(op.body.decode(withType(std::move(body), element)));
  Builder g("product");
  const auto guard = g.on(contender.devices().back());
  const Tensor a = g.input("a", {element, op.transposeA ? Shape{9, 21} : Shape{21, 9}});
  const Tensor b = g.input("b", {element, op.transposeB ? Shape{34, 9} : Shape{9, 34}});
  const Tensor row = g.input("row", {element, {34}}), whole = g.input("whole", {element, {21, 34}});
  g.fetch("y", g.op(op, {a, b, row, whole}, std::source_location::current()));
  return *std::move(g).finish();
}

std::vector<NamedLiterals> runRounds(const std::shared_ptr<const Executable>& plan,
                                     const SessionOptions& options, const Graph& graph, uint64_t seed) {
  const auto session = opened(plan, options);
  NamedLiterals start;
  const NamedLiterals known = session->state();
  for (const auto& [name, value] : randomParameters(graph, seed)) {
    if (known.count(name) != 0) { // a pass may have dropped an unused one
      start.emplace(name, value);
    }
  }
  REQUIRE(session->setState(start).ok());
  std::vector<Session::Pending> pending;
  for (uint64_t step = 0; step < 3; ++step) {
    auto submitted = session->submit(randomFeeds(graph, seed + step));
    INFO(render(submitted.errors()));
    REQUIRE(submitted.ok());
    pending.push_back(*submitted);
  }
  std::vector<NamedLiterals> results;
  for (const Session::Pending& one : pending) {
    results.push_back(one.wait());
  }
  results.push_back(session->state());
  return results;
}

void checkSameBits(const std::vector<NamedLiterals>& expected, const std::vector<NamedLiterals>& actual) {
  REQUIRE(expected.size() == actual.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    REQUIRE(expected[i].size() == actual[i].size());
    for (const auto& [name, value] : expected[i]) {
      INFO(name);
      CHECK(bitDifference(value, actual[i].at(name)) == "");
    }
  }
}

/// Each op on the cpu, on one of the devices, or where the compiler likes.
Graph scattered(const Graph& graph, const std::vector<std::string>& devices, uint64_t seed) {
  std::vector<std::string> places = devices;
  places.insert(places.end(), {"cpu0", ""});
  Dice dice(seed);
  return repinned(graph, [&](OpId) { return dice.oneOf(places); });
}

/// Without the passes that rearrange the images of convolutions for GPUs, and not for a CPU alone: their sums
/// are then made in another order.
CompileOptions layoutsAsWritten() {
  CompileOptions options;
  options.skipPasses = {"space_to_depth", "choose_layout"};
  return options;
}

/// Whether its results are those of the cpu backend to the bit: it runs the same kernels.
bool computesAsHost(const Contender& contender) {
  return contender.backend->name() == "cpu" || contender.backend->name() == "emulated";
}

} // namespace

TEST_CASE("every op and type gives what the evaluator gives") {
  for (const Contender& contender : contenders(Aspect::Values)) {
    for (const OpKind kind : computingKinds()) {
      for (const ElementType element : allElementTypes) {
        for (uint64_t seed = 0; seed < 6; ++seed) {
          INFO(contender.name << ", " << nameOf(kind) << ", " << name(element) << ", seed " << seed);
          RandomGraphOptions options;
          options.ops = 10;
          options.kinds = {kind};
          options.elements = {element};
          options.state = false;
          options.pins = contender.devices();
          checkOpByOp(contender, randomGraph(seed, options), seed);
        }
      }
    }
  }
}

TEST_CASE("every fused product gives what the evaluator gives") {
  const std::vector<std::string> bodies = {
      "add:T %0 %1; relu:T %3",                   // a layer
      "mul:T %0 %1; sub:T %2 %3",                 // an update
      "compare.gt:bool %2 %1; select:T %3 %0 %1", // the mask of a relu's gradient
      "max:T %0 %2; add:T %3 %3",
      "cast:f64 %0",
  };
  for (const Contender& contender : contenders(Aspect::Values)) {
    for (const ElementType element : allElementTypes) {
      for (uint64_t seed = 0; seed < bodies.size() * 4 && element != ElementType::Bool; ++seed) {
        INFO(contender.name << ", " << name(element) << ", seed " << seed);
        checkOpByOp(contender, fusedProduct(contender, element, bodies[seed / 4], seed), seed);
      }
    }
  }
}

TEST_CASE("a label that names no class makes its row NaN, also where its lower bits name one") {
  for (const Contender& contender : contenders(Aspect::Values)) {
    for (const double label : {2.0, -1.0, 40.0, 4294967298.0}) { // the last: 2^32 + 2
      INFO(contender.name << ", label " << label);
      Builder g("labels");
      const auto guard = g.on(contender.devices().back());
      const Tensor logits = g.input("logits", f32({3, 40})), seed = g.input("seed", f32({}));
      Literal values({ElementType::I64, {3}});
      values.set(1, label);
      const Tensor labels = g.constant(values);
      g.fetch("loss", softmaxCrossEntropy(logits, labels));
      g.fetch("gradient", g.op(ops::SoftmaxCrossEntropyGradient{}, {logits, labels, seed},
                               std::source_location::current()));
      const Result<Graph> graph = std::move(g).finish();
      REQUIRE(graph.ok());
      checkOpByOp(contender, *graph, 1);
    }
  }
}

TEST_CASE("random graphs of all ops give what the evaluator gives, op by op") {
  for (const Contender& contender : contenders(Aspect::Values)) {
    for (uint64_t seed = 100; seed < 180; ++seed) {
      INFO(contender.name << ", seed " << seed);
      RandomGraphOptions options;
      options.state = false;
      options.pins = contender.devices();
      checkOpByOp(contender, randomGraph(seed, options), seed);
    }
  }
}

TEST_CASE("every element type travels in, across and out unchanged") {
  for (const Contender& contender : contenders(Aspect::Values)) {
    for (const ElementType element : allElementTypes) {
      INFO(contender.name << ", " << name(element));
      const auto devices = contender.devices();
      Builder g("journey");
      const TensorType type{element, Shape{5, 7}};
      const Tensor x = g.input("x", type);
      const Tensor there = transpose(x, {1, 0}).on(devices.front());
      const Tensor on = concat({there, there}, 0).on(devices.back());
      g.fetch("y", slice(on, {7, 0}, {14, 5}).on("cpu0"));
      const Result<Graph> graph = std::move(g).finish();
      REQUIRE(graph.ok());
      const auto session = opened(tinyPlan(*graph, contender.machine()), contender.options());
      Dice dice(3);
      for (int step = 0; step < 5; ++step) {
        const NamedLiterals feeds{{"x", randomLiteral(type, dice, Mood::Wild)}};
        const auto results = session->run(feeds);
        REQUIRE(results.ok());
        const auto expected = evaluate(*graph, feeds);
        REQUIRE(expected.ok());
        CHECK(bitDifference(expected->fetches.at("y"), results->at("y")) == "");
      }
    }
  }
}

TEST_CASE("state goes from step to step as the evaluator's does") {
  for (const Contender& contender : contenders(Aspect::Values)) {
    INFO(contender.name);
    Builder g("state");
    const Tensor x = g.input("x", f32({3}));
    const auto guard = g.on(contender.devices().back());
    const Tensor w = g.parameter("w", f32({3}), constantInit(1));
    const Tensor v = g.parameter("v", f32({3}), constantInit(2));
    g.fetch("seen", w * v);
    g.assign(w, w + x);
    g.assign(v, w * 0.5);
    const Result<Graph> graph = std::move(g).finish();
    REQUIRE(graph.ok());
    const auto session = opened(tinyPlan(*graph, contender.machine()), contender.options());
    NamedLiterals state{{"w", filledLiteral(f32({3}), 1)}, {"v", filledLiteral(f32({3}), 2)}};
    for (uint64_t step = 0; step < 20; ++step) {
      const NamedLiterals feeds = randomFeeds(*graph, step);
      const auto expected = evaluate(*graph, feeds, state);
      REQUIRE(expected.ok());
      state = expected->parameters;
      const auto results = session->run(feeds);
      REQUIRE(results.ok());
      CHECK(bitDifference(expected->fetches.at("seen"), results->at("seen")) == "");
    }
    CHECK(session->state() == state);
  }
}

TEST_CASE("compiled random graphs give the same bits on every host backend, placement and run") {
  for (uint64_t seed = 200; seed < 230; ++seed) {
    INFO("seed " << seed);
    const Graph graph = randomGraph(seed);
    CompileOptions options = layoutsAsWritten();
    options.policy = "pins"; // where chance puts the ops: no better place is looked for
    const auto host = requirePlan(graph, smallMachine(0), options);
    const auto expected = runRounds(host, {.cpuBackend = "cpu"}, graph, seed);
    checkSameBits(expected, runRounds(host, {.cpuBackend = "cpu"}, graph, seed));
    for (const Contender& contender : contenders(Aspect::Values)) {
      if (contender.kind == DeviceKind::Gpu && computesAsHost(contender)) {
        INFO(contender.name);
        const auto spread =
            requirePlan(scattered(graph, contender.devices(), seed), contender.machine(2), options);
        checkSameBits(expected, runRounds(spread, contender.options(), graph, seed));
        checkSameBits(expected, runRounds(spread, contender.options(), graph, seed));
      }
    }
  }
}

namespace {

/// Ten runs on one GPU, and one on GPUs that each do what chance gives them.
void checkOnLikeGpus(const Contender& contender, uint64_t seed) {
  INFO(contender.name << ", seed " << seed);
  const Graph graph = randomGraph(seed);
  const auto options = contender.options();
  const auto alone = requirePlan(repinned(graph, [](OpId) { return "gpu0"; }), contender.machine(1));
  const auto expected = runRounds(alone, options, graph, seed);
  for (int run = 0; run < 10; ++run) {
    checkSameBits(expected, runRounds(alone, options, graph, seed));
  }
  Dice dice(seed);
  const auto names = contender.devices();
  const auto spread =
      requirePlan(repinned(graph, [&](OpId) { return dice.oneOf(names); }), contender.machine(2));
  checkSameBits(expected, runRounds(spread, options, graph, seed));
}

/// Thirty of the 300 graphs: kernels of every graph are compiled, which several processes may share out.
void checkThirtyOnLikeGpus(uint64_t part) {
  auto gpus = contenders(Aspect::Values);
  std::erase_if(gpus, [](const Contender& contender) {
    return contender.kind != DeviceKind::Gpu || computesAsHost(contender);
  });
  if (gpus.empty()) {
    DFC_SKIP("no GPU here");
  }
  for (const Contender& contender : gpus) {
    for (uint64_t seed = 200 + 30 * part; seed < 230 + 30 * part; ++seed) {
      checkOnLikeGpus(contender, seed);
    }
  }
}

} // namespace

// The same bits on like GPUs, whichever does what, run after run.
TEST_CASE("compiled random graphs on like GPUs: part 0") { checkThirtyOnLikeGpus(0); }
TEST_CASE("compiled random graphs on like GPUs: part 1") { checkThirtyOnLikeGpus(1); }
TEST_CASE("compiled random graphs on like GPUs: part 2") { checkThirtyOnLikeGpus(2); }
TEST_CASE("compiled random graphs on like GPUs: part 3") { checkThirtyOnLikeGpus(3); }
TEST_CASE("compiled random graphs on like GPUs: part 4") { checkThirtyOnLikeGpus(4); }
TEST_CASE("compiled random graphs on like GPUs: part 5") { checkThirtyOnLikeGpus(5); }
TEST_CASE("compiled random graphs on like GPUs: part 6") { checkThirtyOnLikeGpus(6); }
TEST_CASE("compiled random graphs on like GPUs: part 7") { checkThirtyOnLikeGpus(7); }
TEST_CASE("compiled random graphs on like GPUs: part 8") { checkThirtyOnLikeGpus(8); }
TEST_CASE("compiled random graphs on like GPUs: part 9") { checkThirtyOnLikeGpus(9); }

TEST_CASE("large feeds of steps in flight are those of their steps") {
  // 2.4 MB and 12 MB, which a backend may copy ahead, beside a small one; every device reads the larger.
  for (const Contender& contender : contenders(Aspect::Values)) {
    INFO(contender.name);
    Builder g("feeds");
    const Tensor wide = g.input("wide", f32({3, 1'000'000})), flat = g.input("flat", f32({600'000})),
                 step = g.input("step", f32({}));
    for (const std::string& device : contender.devices()) {
      g.fetch(device + ".wide", (reduceMax(wide, {1}).on(device) + step).on(device));
      g.fetch(device + ".flat", (flat + step).on(device));
    }
    const Graph graph = *std::move(g).finish();
    for (const bool traced : {false, true}) {
      SessionOptions options = contender.options();
      options.trace = traced;
      options.maxInFlight = 4;
      const auto session = opened(tinyPlan(graph, contender.machine()), options);
      std::vector<Session::Pending> pending;
      constexpr int steps = 9;
      for (int number = 0; number < steps; ++number) {
        // Fed from memory that is gone when the step runs.
        Literal large(f32({3, 1'000'000})), small(f32({600'000}));
        std::span<float> elements = large.mutableData<float>();
        for (size_t i = 0; i < elements.size(); ++i) {
          elements[i] = static_cast<float>((i + 7919 * static_cast<size_t>(number)) % 999'983);
        }
        std::ranges::fill(small.mutableData<float>(), static_cast<float>(100 * number));
        elements[1'000'000 * static_cast<size_t>(number % 3)] = static_cast<float>(2'000'000 + number);
        auto submitted = session->submit(
            {{"wide", large}, {"flat", small}, {"step", Literal::scalar<float>(static_cast<float>(number))}});
        REQUIRE(submitted.ok());
        pending.push_back(*submitted);
      }
      for (int number = 0; number < steps; ++number) {
        const NamedLiterals results = pending[static_cast<size_t>(number)].wait();
        for (const std::string& device : contender.devices()) {
          INFO(device << ", step " << number << (traced ? ", traced" : ""));
          CHECK(results.at(device + ".wide").at(number % 3) == 2'000'000 + 2 * number);
          for (const int64_t i : {0, 1, 262'144, 599'999}) {
            CHECK(results.at(device + ".flat").at(i) == 101 * number);
          }
        }
      }
    }
  }
}
