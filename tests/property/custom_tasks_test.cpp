// Random graphs of custom tasks over random machines: whatever the policy, a session gives the bits that the
// interpreter gives, from the plan and from its file.
#include "compiler/interpreter/evaluate.h"
#include "ir/author/custom.h"
#include "ir/author/dsl.h"
#include "tests/property/plan_runs.h"
#include "tests/support/random_values.h"

#include <atomic>
#include <random>

namespace dfc::test {
namespace {

// Every element of result r is r plus the sum of what the operands have at its index, by weights: any operand
// that is late or wrong shows.
void mix(const CustomCall& call) {
  for (size_t r = 0; r < call.types().results.size(); ++r) {
    const auto result = call.result<float>(r);
    for (size_t i = 0; i < result.size(); ++i) {
      result[i] = static_cast<float>(r);
      for (size_t o = 0; o < call.types().operands.size(); ++o) {
        const auto operand = call.operand<float>(o);
        result[i] += operand[i % operand.size()] / static_cast<float>(o + 2);
      }
    }
  }
}

class TaskAuthor {
 public:
  explicit TaskAuthor(uint64_t seed) : random_(seed) {}

  Graph write(bool everyKind) {
    Builder g("tasks");
    std::vector<Tensor> values = {g.input("x", anyType()), g.input("y", anyType())};
    const Tensor state = g.parameter("state", f32({5}), constantInit(1));
    values.push_back(state);
    for (uint32_t count = 6 + below(14); count > 0; --count) {
      addTask(g, values, everyKind);
      if (below(4) == 0) {
        values.push_back(relu(values[below(values.size())] * 2 + 1));
      }
    }
    g.assign(state, custom({values.back()}, task({f32({5})}, true))[0]);
    for (size_t i = 3; i < values.size(); i += 1 + below(3)) {
      g.fetch("value " + std::to_string(i), values[i]);
    }
    auto graph = std::move(g).finish();
    INFO(render(graph.errors()));
    REQUIRE(graph.ok());
    return *std::move(graph);
  }

 private:
  uint32_t below(size_t limit) { return static_cast<uint32_t>(random_() % limit); }
  TensorType anyType() { return below(3) == 0 ? f32({3, 4}) : f32({static_cast<int64_t>(1 + below(6000))}); }

  CustomTask task(std::vector<TensorType> results, bool everyKind) {
    CustomTask made;
    made.function = "mix";
    made.results = std::move(results);
    const uint32_t kinds = everyKind ? 3 : 1 + below(3);
    made.cpuSeconds = (kinds & 1U) != 0 ? 1e-6 * (1 + below(200)) : 0;
    made.gpuSeconds = (kinds & 2U) != 0 ? 1e-6 * (1 + below(40)) : 0;
    made.pure = below(2) == 0;
    return made;
  }

  void addTask(Builder& g, std::vector<Tensor>& values, bool everyKind) {
    std::vector<Tensor> operands;
    for (uint32_t count = below(4); count > 0; --count) {
      operands.push_back(values[below(values.size())]);
    }
    std::vector<TensorType> results;
    for (uint32_t count = 1 + below(2); count > 0; --count) {
      results.push_back(anyType());
    }
    for (const Tensor& result : custom(g, operands, task(results, everyKind))) {
      values.push_back(result);
    }
  }

  std::mt19937_64 random_;
};

void checkPlan(const Graph& graph, const Machine& machine, const std::string& policy) {
  INFO(policy);
  CompileOptions options;
  options.policy = policy;
  const auto plan = planOf(graph, machine, options);
  const auto again = Executable::parse(plan->serialise(), "tasks.plan");
  INFO(render(again.errors()));
  REQUIRE(again.ok());
  const NamedLiterals feeds = randomFeeds(graph, 5);
  SessionOptions sessionOptions;
  sessionOptions.gpuBackend = "emulated";
  sessionOptions.customFunctions = {{"mix", mix}};
  const auto session = Session::open(std::make_shared<const Executable>(*again), sessionOptions).orThrow();
  NamedLiterals state = session->state();
  for (int step = 0; step < 3; ++step) {
    const auto expected = evaluate(graph, feeds, state, sessionOptions.customFunctions);
    INFO(render(expected.errors()));
    REQUIRE(expected.ok());
    const auto actual = session->run(feeds);
    REQUIRE(actual.ok());
    CHECK(*actual == expected->fetches);
    state = session->state();
    CHECK(state == expected->parameters);
  }
}

} // namespace

namespace {

void checkTaskGraphs(uint64_t begin, uint64_t end) {
  for (uint64_t seed = begin; seed < end; ++seed) {
    INFO(seed);
    const Graph graph = TaskAuthor(seed).write(/*everyKind=*/true), kinds = TaskAuthor(seed).write(false);
    for (const Shape& shape : {Shape{1, false, 1}, Shape{2, true, 2}, Shape{3, false, 1}}) {
      const Machine machine = machineOf(shape);
      for (const std::string policy : {"single", "pins", "split"}) {
        checkPlan(graph, machine, policy);
      }
      for (const std::string policy : {"auto", "heft", "peft"}) {
        checkPlan(kinds, machine, policy);
      }
    }
  }
}

} // namespace

TEST_CASE("custom tasks: random task graphs give the interpreter's bits under every policy and machine") {
  checkTaskGraphs(1, 5);
}

TEST_CASE("custom tasks: random task graphs, the long run", "[heavy]") { checkTaskGraphs(5, 60); }

TEST_CASE("custom tasks: an op that is not pure runs once in every step, whatever reads it") {
  for (const std::string policy : {"auto", "split", "heft"}) {
    INFO(policy);
    Builder g("counted");
    const Tensor x = g.input("x", f32({256, 256}));
    (void)custom({x}, {.function = "count", .results = {f32({})}, .cpuSeconds = 1e-6, .gpuSeconds = 1e-6});
    g.fetch("y", matmul(x, x));
    CompileOptions options;
    options.policy = policy;
    const Graph graph = std::move(g).finish().orThrow();
    const auto plan = planOf(graph, machineOf({2, true, 2}), options);
    std::atomic<int> calls = 0;
    SessionOptions sessionOptions;
    sessionOptions.gpuBackend = "emulated";
    sessionOptions.customFunctions["count"] = [&](const CustomCall& call) {
      ++calls;
      call.result<float>(0)[0] = 0;
    };
    const auto session = Session::open(plan, sessionOptions).orThrow();
    for (int step = 0; step < 4; ++step) {
      REQUIRE(session->run(randomFeeds(graph, 3)).ok());
    }
    session->waitAll();
    CHECK(calls == 4);
  }
}

} // namespace dfc::test
