// The graph of sample 03 against the book's figure: collapsed by scope, one step is its 15 computations and
// 10 transfers, and the schedule leaves fc2's reduction, update and broadcast free to run before fc1 backward
// ends.
#include "compiler/compile.h"
#include "compiler/passes/passes.h"
#include "compiler/place/place.h"
#include "compiler/schedule/schedule.h"
#include "compiler/transfer/insert_transfers.h"
#include "ir/happens_before.h"
#include "samples/03_figure/graph.h"
#include "tests/support/catch.h"

#include <map>
#include <set>

namespace dfc::test {
namespace {

Machine cpuAndTwoGpus() {
  auto machine = readMachine(std::string(DFC_SOURCE_DIR) + "/samples/machines/cpu-2gpu.json");
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
  CHECK(assigns == 6); // two weights on three devices
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

} // namespace dfc::test
