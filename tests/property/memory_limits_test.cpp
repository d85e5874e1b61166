// Random graphs in ever less memory: a plan that sealing accepts (every verifier passes), keeps within the
// limits and computes the very bits of the plan without limits, unless the batch is in parts, whose sums are
// added up one after the other; or a refusal that says what is needed.
#include "compiler/memory/plan_memory.h"
#include "ir/plan/executable_parts.h"
#include "tests/property/plan_runs.h"

namespace dfc::test {
namespace {

struct Tally {
  int fits = 0, waits = 0, refusals = 0;
};

/// Every gpu gets `share` of what it needs within a step without limits; so does the host if `all`, where
/// most is fetched and so stays to the end.
Machine limited(const Executable& plan, double share, bool all) {
  Machine machine = plan.machine();
  for (const DeviceId device : machine.devices.ids()) {
    const int64_t resident = plan.memory().residentBytes[device];
    const auto within = static_cast<double>(plan.memory().arenaBytes[device] - resident);
    if (all || machine.devices[device].kind == DeviceKind::Gpu) {
      machine.devices[device].memoryBytes =
          std::max<int64_t>(1, resident + static_cast<int64_t>(share * within));
    }
  }
  return machine;
}

void checkSamePlan(const Executable& expected, const Executable& actual) {
  for (const ValueId value : expected.graph().values()) {
    CHECK(expected.memory().slots[value].offset == actual.memory().slots[value].offset);
  }
  for (const StepId step : expected.schedule().steps.ids()) {
    CHECK(expected.schedule().steps[step].op == actual.schedule().steps[step].op);
    CHECK(expected.schedule().steps[step].queue == actual.schedule().steps[step].queue);
    CHECK(expected.schedule().steps[step].waits == actual.schedule().steps[step].waits);
  }
}

size_t waitsOf(const Executable& plan) {
  size_t waits = 0;
  for (const StepRow& step : plan.schedule().steps) {
    waits += step.waits.size();
  }
  return waits;
}

void checkInMemory(const Graph& graph, const CompileOptions& options, const Executable& roomy,
                   const Outcome& expected, uint64_t seed, double share, Tally& tally) {
  const Machine machine = limited(roomy, share, seed % 3 == 0);
  auto compiled = compile(graph, machine, RooflineCostModel(), options);
  if (!compiled) {
    ++tally.refusals;
    for (const Diagnostic& error : compiled.errors()) {
      CHECK(error.message.find(" needs ") != std::string::npos);
      CHECK(error.message.find("the least that was found is ") != std::string::npos);
      CHECK(!error.hint.empty());
    }
    return;
  }
  const auto plan = std::make_shared<const Executable>(*std::move(compiled));
  ++tally.fits;
  tally.waits += waitsOf(*plan) > waitsOf(roomy) ? 1 : 0;
  for (const DeviceId device : machine.devices.ids()) {
    CHECK_FALSE(exceedsCapacity(plan->memory(), machine, device));
  }
  CHECK(plan->schedule().makespan >= plan->schedule().bounds.best() * (1 - 1e-9));
  const Outcome actual = run(plan, graph, seed, 2);
  if (plan->policy().find("micro-batches") == std::string::npos) { // else sums are taken part by part
    checkSame(expected, actual);
  }
}

void checkRandomGraph(uint64_t seed, Tally& tally) {
  RandomGraphOptions kind;
  kind.ops = 20 + seed % 60;
  kind.mostElements = seed % 2 == 0 ? 400 : 4000; // many buffers of one unit; buffers of many sizes
  const Graph graph = randomGraph(seed, kind);
  CompileOptions options;
  options.policy = "heft"; // which does not look at memory: the limits move orders and offsets alone
  options.pins = randomPins(graph, seed);
  options.skipPasses = {
      "hoist_invariant_ops"}; // its plans need memory of their own: preparation_test has them
  for (const Shape& shape : {Shape{2, true, 1}, Shape{2, false, 2}}) {
    INFO("seed " << seed << ", " << shape.queues << " queues");
    const auto roomy = planOf(graph, machineOf(shape), options);
    const Outcome expected = run(roomy, graph, seed, 2);
    checkSamePlan(*roomy, *planOf(graph, limited(*roomy, 1, true), options));
    for (const double share : {0.9, 0.75, 0.6, 0.5, 0.3}) {
      INFO("share " << share);
      checkInMemory(graph, options, *roomy, expected, seed, share, tally);
    }
  }
}

void checkRandomGraphs(uint64_t first, uint64_t last) {
  Tally tally;
  for (uint64_t seed = first; seed < last; ++seed) {
    checkRandomGraph(seed, tally);
  }
  INFO(tally.fits << " fit, " << tally.waits << " of them with more waits, " << tally.refusals << " refused");
  CHECK(tally.fits > tally.refusals / 10);
  CHECK(tally.waits > 0);
  CHECK(tally.refusals > 0);
}

} // namespace

TEST_CASE("random graphs in little memory: the same bits, or a refusal") { checkRandomGraphs(1, 60); }

TEST_CASE("random graphs in little memory, the long run", "[heavy]") { checkRandomGraphs(5000, 6000); }

} // namespace dfc::test
