// What must hold of every plan, over random graphs of the whole op table: sealing accepts it (every verifier
// passes), its makespan is not below its bounds, simulation agrees with the schedule, and wherever it runs
// the results and the parameters are those of the one-device run, bit for bit, step after step.
#include "compiler/place/place.h"
#include "compiler/simulate/simulate.h"
#include "tests/property/plan_runs.h"

namespace dfc::test {
namespace {

void checkPlan(const Executable& plan) {
  const double slack = 1 - 1e-9;
  CHECK(plan.schedule().makespan >= plan.schedule().bounds.best() * slack);
  const Simulation simulation = simulate(plan);
  CHECK(simulation.trace.spans.size() == plan.schedule().steps.size());
  CHECK(simulation.makespan >= plan.schedule().bounds.best() * slack);
}

void checkRandomGraph(uint64_t seed) {
  RandomGraphOptions kind;
  kind.scopes = {"a", "b", "a/c"};
  kind.ops = 20 + seed % 60;
  const Graph graph = randomGraph(seed, kind);
  CompileOptions options;
  options.policy = "single";
  const auto reference = planOf(graph, machineOf({}), options);
  checkPlan(*reference);
  const Outcome expected = run(reference, graph, seed, 3);
  options.pins = randomPins(graph, seed);
  for (const Shape& shape : {Shape{2, true, 1}, Shape{2, false, 2}, Shape{3, true, 2}}) {
    for (const PolicyRow& policy : allPolicies()) {
      INFO("seed " << seed << ", policy " << policy.name << ", " << shape.gpus << " gpus");
      options.policy = std::string(policy.name);
      const auto plan = planOf(graph, machineOf(shape), options);
      checkPlan(*plan);
      checkSame(expected, run(plan, graph, seed, 3));
    }
  }
}

} // namespace

TEST_CASE("random graphs: every plan gives the bits of the one-device run") {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    checkRandomGraph(seed);
  }
}

TEST_CASE("random graphs, the long run", "[heavy]") {
  for (uint64_t seed = 1000; seed < 3000; ++seed) {
    checkRandomGraph(seed);
  }
}

} // namespace dfc::test
