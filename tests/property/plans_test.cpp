// What must hold of every plan, over random graphs of the whole op table: sealing accepts it (every verifier
// passes), its makespan is not below its bounds, simulation agrees with the schedule, and wherever it runs
// the results and the parameters are those of the one-device run, bit for bit, step after step: on a machine
// with GPUs, where passes make other ops of convolutions, those of a run on one device of such a machine. A
// graph that fails is shrunk and printed.
#include "compiler/place/place.h"
#include "compiler/simulate/simulate.h"
#include "ir/author/text/parse.h"
#include "ir/author/text/print.h"
#include "ir/graph/graph.h"
#include "ir/plan/executable_parts.h"
#include "ir/verify/verify.h"
#include "tests/property/plan_runs.h"
#include "tests/support/shrink_graph.h"

#include <fmt/format.h>

#include <array>

namespace dfc::test {
namespace {

constexpr int steps = 3;

std::string flawOf(const Executable& plan) {
  const double least = plan.schedule().bounds.best() * (1 - 1e-9);
  const Simulation simulation = simulate(plan);
  return plan.schedule().makespan < least ? "a makespan below its bound"
         : simulation.makespan < least    ? "simulated below its bound"
         : simulation.trace.spans.size() != plan.schedule().steps.size()
             ? "steps that are not simulated"
             : render(verifyPrediction(plan.placed(), plan.schedule(), plan.machine()));
}

struct Planned {
  std::string flaw;
  std::shared_ptr<const Executable> plan; ///< null where it has a flaw
  Outcome outcome;
};

Planned planned(const Graph& graph, const Shape& shape, std::string_view policy, uint64_t seed) {
  CompileOptions options;
  options.policy = std::string(policy);
  auto compiled = compile(graph, machineOf(shape), RooflineCostModel(), options);
  if (!compiled) {
    return {render(compiled.errors()), nullptr, {}};
  }
  const auto plan = std::make_shared<const Executable>(*std::move(compiled));
  auto outcome = outcomeOf(plan, graph, seed, steps);
  if (std::string flaw = outcome ? flawOf(*plan) : render(outcome.errors()); !flaw.empty()) {
    return {std::move(flaw), nullptr, {}};
  }
  return {"", plan, *std::move(outcome)};
}

/// "" where all plans of the graph, which has pins, do as its plan for one device does.
std::string flawOf(const Graph& graph, uint64_t seed) {
  try {
    const Planned onCpu = planned(pinned(graph, {}), {}, "single", seed);
    const Planned reference = planned(pinned(graph, {}), Shape{1, true, 1}, "single", seed);
    for (const Planned& one : {onCpu, reference}) {
      if (!one.flaw.empty()) {
        return "on one device: " + one.flaw;
      }
    }
    for (const Shape& shape : {Shape{2, true, 1}, Shape{2, false, 2}, Shape{3, true, 2}}) {
      for (const PolicyRow& policy : allPolicies()) {
        if (policy.name == "auto" && seed % 4 != 0) { // takes as long as all others together
          continue;
        }
        const Planned other = planned(graph, shape, policy.name, seed);
        const std::string flaw =
            other.flaw.empty() ? difference(reference.outcome, other.outcome) : other.flaw;
        if (!flaw.empty()) {
          return fmt::format("policy {}, {} gpus: {}", policy.name, shape.gpus, flaw);
        }
      }
    }
    return "";
  } catch (const std::exception& error) {
    return fmt::format("throws: {}", error.what());
  }
}

/// Random pins, but of no convolution on the host: pinned there it keeps its layout, and with it another
/// order of its sums (compiler/passes/layout).
std::vector<PinRule> pinsFor(const Graph& graph, uint64_t seed) {
  std::vector<PinRule> pins = randomPins(graph, seed);
  for (PinRule& pin : pins) {
    const OpKind kind = graph[graph[graph.findValue(pin.pattern)].producer].kind();
    const bool convolves =
        kind == OpKind::Conv2d || kind == OpKind::Conv2dInputGradient || kind == OpKind::Conv2dFilterGradient;
    pin.device = convolves && pin.device == "cpu0" ? "gpu0" : pin.device;
  }
  return pins;
}

void checkRandomGraph(uint64_t seed) {
  RandomGraphOptions kind;
  kind.scopes = {"a", "b", "a/c"};
  kind.ops = 20 + seed % 60;
  const Graph drawn = randomGraph(seed, kind), graph = pinned(drawn, pinsFor(drawn, seed));
  if (const std::string flaw = flawOf(graph, seed); !flaw.empty()) {
    const Graph least = shrunk(graph, [&](const Graph& smaller) {
      return !smaller.fetches().empty() && !flawOf(smaller, seed).empty();
    });
    FAIL_CHECK("seed " << seed << ", " << flaw << "\nshrunk, " << flawOf(least, seed) << "\n"
                       << printGraph(least));
  }
}

void checkRandomGraphs(uint64_t begin, uint64_t end) {
  for (uint64_t seed = begin; seed < end; ++seed) {
    checkRandomGraph(seed);
  }
  SUCCEED(); // counts as checked
}

void checkThousand(uint64_t part) { checkRandomGraphs(1000 + 1000 * part, 2000 + 1000 * part); }

bool has(const Graph& graph, OpKind kind) {
  const auto ops = graph.ops();
  return std::any_of(ops.begin(), ops.end(), [&](OpId op) { return graph[op].kind() == kind; });
}

} // namespace

TEST_CASE("random graphs: every plan gives the bits of the one-device run") { checkRandomGraphs(1, 19); }

namespace {

/// Under every policy; of `auto`, which takes as long as all others together, one graph in `everyAuto`.
void checkPredictions(uint64_t everyAuto) {
  constexpr uint32_t anyNumber = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    Dice dice(seed);
    RandomGraphOptions kind;
    kind.ops = 20 + seed % 60;
    const Graph drawn = randomGraph(seed, kind), graph = pinned(drawn, randomPins(drawn, seed));
    Machine machine = machineOf({2, dice.chance(50), static_cast<uint32_t>(1 + dice.below(3))});
    for (const LinkId link : machine.links.ids()) {
      machine.links[link].slots = dice.oneOf(std::array<uint32_t, 5>{anyNumber, 1, 2, 3, 5});
      machine.links[link].latencySeconds = dice.chance(25) ? 0 : 1e-7;
    }
    // The host's copies to the GPUs also share one link, as on a bus.
    const LinkId bus = machine.links.add({"bus", 0, 2e9, static_cast<uint32_t>(1 + dice.below(3))});
    for (Route& route : machine.routes) {
      if (route.from == machine.host()) {
        route.links.push_back(bus);
      }
    }
    for (const PolicyRow& policy : allPolicies()) {
      if (policy.name == "auto" && seed % everyAuto != 0) {
        continue;
      }
      CompileOptions options;
      options.policy = std::string(policy.name);
      const auto plan = planOf(graph, machine, options);
      const std::string flaw = flawOf(*plan);
      INFO("seed " << seed << ", policy " << policy.name << "\n" << printGraph(graph));
      CHECK(flaw == "");
    }
  }
}

} // namespace

TEST_CASE("random graphs: every plan's prediction is sound, whatever its links carry at once") {
  checkPredictions(4);
}

TEST_CASE("random graphs, the long run: predictions", "[heavy]") { checkPredictions(1); }

TEST_CASE("random graphs, the long run: part 0", "[heavy]") { checkThousand(0); }
TEST_CASE("random graphs, the long run: part 1", "[heavy]") { checkThousand(1); }
TEST_CASE("random graphs, the long run: part 2", "[heavy]") { checkThousand(2); }
TEST_CASE("random graphs, the long run: part 3", "[heavy]") { checkThousand(3); }
TEST_CASE("random graphs, the long run: part 4", "[heavy]") { checkThousand(4); }
TEST_CASE("random graphs, the long run: part 5", "[heavy]") { checkThousand(5); }
TEST_CASE("random graphs, the long run: part 6", "[heavy]") { checkThousand(6); }
TEST_CASE("random graphs, the long run: part 7", "[heavy]") { checkThousand(7); }
TEST_CASE("random graphs, the long run: part 8", "[heavy]") { checkThousand(8); }
TEST_CASE("random graphs, the long run: part 9", "[heavy]") { checkThousand(9); }

TEST_CASE("a graph that fails is shrunk to what makes it fail") {
  RandomGraphOptions kind;
  kind.ops = 120;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const Graph graph = randomGraph(seed, kind);
    const auto fails = [](const Graph& one) { return has(one, OpKind::Add) && has(one, OpKind::Mul); };
    if (!fails(graph)) {
      continue;
    }
    const Graph least = shrunk(graph, fails);
    INFO(printGraph(least));
    CHECK(fails(least));
    CHECK(parseGraph(printGraph(least), "").ok());
    size_t computing = 0;
    for (const OpId op : least.ops()) {
      const OpClass opClass = classOf(least[op].kind());
      computing += opClass != OpClass::Source && least[op].kind() != OpKind::Assign ? 1 : 0;
    }
    CHECK(computing == 2);
  }
}

} // namespace dfc::test
