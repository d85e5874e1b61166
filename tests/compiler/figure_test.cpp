// The graph of sample 03 against the book's figure: collapsed by scope, one step is its 15 computations and
// 10 transfers, and the schedule leaves fc2's reduction, update and broadcast free to run before fc1 backward
// ends.
#include "compiler/compile.h"
#include "compiler/passes/passes.h"
#include "compiler/place/place.h"
#include "compiler/schedule/schedule.h"
#include "compiler/transfer/insert_transfers.h"
#include "ir/draw/scope_view.h"
#include "ir/graph/graph.h"
#include "ir/plan/computations.h"
#include "ir/plan/executable_parts.h"
#include "ir/plan/happens_before.h"
#include "runtime/executable_folder.h"
#include "samples/03_figure/graph.h"
#include "samples/03_figure/overlap.h"
#include "tests/support/catch.h"

#include <map>
#include <set>

namespace dfc::test {
namespace {

Machine cpuAndTwoGpus() {
  auto machine = readMachine(shippedFile("samples/machines/cpu-2gpu.json").string());
  REQUIRE(machine.ok());
  return *machine;
}

struct Planned {
  Machine machine = cpuAndTwoGpus();
  std::optional<Executable> plan;

  Planned() {
    auto graph = figure::trainingStep({});
    REQUIRE(graph.ok());
    auto compiled = compile(*graph, machine, RooflineCostModel());
    INFO((compiled.ok() ? "" : render(compiled.errors())));
    REQUIRE(compiled.ok());
    plan.emplace(*std::move(compiled));
  }

  std::vector<OpId> opsIn(std::string_view scope, std::string_view device) const {
    std::vector<OpId> ops;
    for (const OpId op : plan->graph().ops()) {
      if (plan->graph().scopeOf(op) == scope && deviceOf(op) == device && !plan->placed().isResident(op) &&
          plan->graph()[op].kind() != OpKind::Assign) {
        ops.push_back(op);
      }
    }
    return ops;
  }

  std::string deviceOf(OpId op) const { return machine.devices[plan->placed().device[op]].name; }
};

} // namespace

TEST_CASE("collapsed by scope, the figure has its 15 computations") {
  const Planned figure;
  std::set<std::string> boxes;
  const Graph& graph = figure.plan->graph();
  for (const OpId op : graph.ops()) {
    if (figure.plan->schedule().stepOf[op].valid() && graph[op].kind() != OpKind::Transfer &&
        graph[op].kind() != OpKind::Assign) {
      boxes.insert(figure.deviceOf(op) + ": " + std::string(graph.scopeOf(op)));
    }
  }
  const std::set<std::string> expected = {"cpu0: next_batch",    "gpu0: fc1 forward",  "gpu1: fc1 forward",
                                          "gpu0: fc2 forward",   "gpu1: fc2 forward",  "gpu0: loss gradient",
                                          "gpu1: loss gradient", "gpu0: fc2 backward", "gpu1: fc2 backward",
                                          "gpu0: fc1 backward",  "gpu1: fc1 backward", "cpu0: fc2 sum",
                                          "cpu0: fc2 update",    "cpu0: fc1 sum",      "cpu0: fc1 update"};
  CHECK(boxes == expected);
}

TEST_CASE("the figure's 10 transfers, and the 2 label halves that the drawing leaves out") {
  const Planned figure;
  std::map<std::string, int> routes;
  int64_t labelBytes = 0;
  for (const auto& [op, row] : figure.plan->placed().transfers) {
    ++routes[figure.machine.devices[row.from].name + ">" + figure.machine.devices[row.to].name];
    labelBytes +=
        figure.plan->graph().typeOf(figure.plan->graph()[op].firstResult).element == ElementType::I64
            ? row.bytes
            : 0;
  }
  // into each gpu: half of the images, half of the labels, w1, w2; out of each: the gradients of w1 and w2
  CHECK(routes ==
        std::map<std::string, int>{{"cpu0>gpu0", 4}, {"cpu0>gpu1", 4}, {"gpu0>cpu0", 2}, {"gpu1>cpu0", 2}});
  CHECK(labelBytes == figure::batch * 8); // both halves, 8 bytes a label
}

TEST_CASE("fc2's sum, update and broadcast are free to run before fc1 backward ends") {
  const Planned figure;
  const HappensBefore before(figure.plan->schedule());
  const Graph& graph = figure.plan->graph();
  const auto stepOf = [&](OpId op) { return figure.plan->schedule().stepOf[op]; };
  std::vector<OpId> free = figure.opsIn("fc2 sum", "cpu0");
  for (const OpId op : figure.opsIn("fc2 update", "cpu0")) {
    free.push_back(op);
  }
  for (const auto& [op, row] : figure.plan->placed().transfers) {
    const OpId source = graph[graph[op].operands[0]].producer;
    if (graph.scopeOf(source) == "fc2 update") {
      free.push_back(op); // the broadcast
    }
  }
  REQUIRE(free.size() == 4); // sum, update, two copies
  for (const char* gpu : {"gpu0", "gpu1"}) {
    const auto backward = figure.opsIn("fc1 backward", gpu);
    REQUIRE(!backward.empty());
    for (const OpId op : free) {
      INFO(graph.nameOf(op) << " against fc1 backward on " << gpu);
      CHECK(!before.ordered(stepOf(backward.back()), stepOf(op)));
    }
  }
}

TEST_CASE("the weights' new values are made in the parameters' own storage") {
  const Planned figure;
  const Graph& graph = figure.plan->graph();
  int assigns = 0;
  for (const OpId op : graph.ops()) {
    if (graph[op].kind() == OpKind::Assign) {
      ++assigns;
      const Slot& parameter = figure.plan->memory().slots[graph[op].operands[0]];
      const Slot& value = figure.plan->memory().slots[graph[op].operands[1]];
      CHECK(parameter.offset == value.offset);
    }
  }
  CHECK(assigns == 7); // two weights on three devices, and the rate of learning on the cpu
}

TEST_CASE("no wait of the figure's schedule is implied by another") {
  const Planned figure;
  const Schedule& schedule = figure.plan->schedule();
  for (const StepId step : schedule.steps.ids()) {
    for (const StepId wait : schedule.steps[step].waits) {
      Schedule without = schedule;
      auto& waits = without.steps[step].waits;
      waits.erase(std::find(waits.begin(), waits.end(), wait));
      CHECK(!HappensBefore(without).ordered(wait, step));
    }
  }
}

TEST_CASE("the figure's makespan is not below its proven bound") {
  const Planned figure;
  CHECK(figure.plan->schedule().makespan >= figure.plan->schedule().bounds.best() * (1 - 1e-12));
}

TEST_CASE("the figure's weights stand on three devices, refreshed by copies and read in the next step") {
  const Planned figure;
  const ScopeView view = collapseByScope(figure.plan->placed());
  std::map<std::string, std::string> states; // "device: name" to "writer <- ; readers ->"
  const auto labelOf = [&](uint32_t box) {
    return view.boxes[box].transfer ? transferLabel(figure.plan->placed(), view.boxes[box].ops.front())
                                    : view.boxes[box].label;
  };
  for (const ScopeState& state : view.states) {
    std::string text;
    for (const uint32_t writer : state.writers) {
      text += "<- " + labelOf(writer) + " ";
    }
    for (const uint32_t reader : state.readers) {
      text += "-> " + labelOf(reader) + " ";
    }
    states[std::string(figure.plan->graph().nameOf(state.parameter))] = text;
  }
  CHECK(states ==
        std::map<std::string, std::string>{{"w1", "<- fc1 update -> fc1 update "},
                                           {"w2", "<- fc2 update -> fc2 update "},
                                           {"rate", "<- fc1 update -> fc2 update -> fc1 update "},
                                           {"w1@gpu0", "<- copy new w1 -> fc1 forward "},
                                           {"w1@gpu1", "<- copy new w1 -> fc1 forward "},
                                           {"w2@gpu0", "<- copy new w2 -> fc2 forward -> fc2 backward "},
                                           {"w2@gpu1", "<- copy new w2 -> fc2 forward -> fc2 backward "}});
}

TEST_CASE("the computations of a plan have no copies and no replicas") {
  const Planned figure;
  const Graph computations = computationsOf(figure.plan->placed(), figure.machine);
  const PlacedGraph& placed = figure.plan->placed();
  int parameters = 0, assigns = 0;
  for (const OpId op : computations.ops()) {
    CHECK(computations[op].kind() != OpKind::Transfer);
    parameters += computations[op].kind() == OpKind::Parameter ? 1 : 0;
    assigns += computations[op].kind() == OpKind::Assign ? 1 : 0;
    const OpId before = placed.graph[placed.graph.findValue(computations.nameOf(op))].producer;
    CHECK(computations.pinOf(op) == figure.deviceOf(before));
  }
  CHECK(parameters == 3); // w1, w2, rate
  CHECK(assigns == 3);
  // 12 transfers, 4 replicas and their 4 assigns are gone.
  CHECK(computations.opCount() + 12 + 4 + 4 == placed.graph.opCount());
}

TEST_CASE("what a trace hides of fc2's reduction is counted by step") {
  const Planned figure;
  const Graph& graph = figure.plan->graph();
  Trace trace;
  // fc1 backward from 10 to 20; sum, update and copies one after the other from `start`, a unit each.
  const auto addRound = [&](uint32_t round, double start) {
    for (const StepId step : figure.plan->schedule().steps.ids()) {
      const OpId op = figure.plan->schedule().steps[step].op;
      const bool copy = graph[op].kind() == OpKind::Transfer;
      const OpId source = copy ? graph[graph[op].operands[0]].producer : op;
      const std::string_view scope = graph.scopeOf(source);
      if (scope == "fc1 backward" && !copy) {
        trace.spans.push_back({step, round, 10, 20});
      } else if (scope == "fc2 sum") {
        trace.spans.push_back({step, round, start, start + 1});
      } else if (scope == "fc2 update" && graph[op].kind() != OpKind::Assign) {
        const double begin = start + (copy ? 2 : 1);
        trace.spans.push_back({step, round, begin, begin + 1});
      }
    }
  };
  addRound(0, 12);   // all by 15: hidden
  addRound(1, 18.5); // the sum by 19.5, the copies by 21.5
  addRound(2, 19.5); // the sum by 20.5
  addRound(3, 30);   // afterwards
  const dfc::figure::HiddenSteps hidden = dfc::figure::hiddenSteps(trace, *figure.plan);
  CHECK(hidden.steps == 4);
  CHECK(hidden.sums == 2);
  CHECK(hidden.whole == 1);
}

} // namespace dfc::test
