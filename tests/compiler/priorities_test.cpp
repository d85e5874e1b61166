// Every row of priorities.def gives a sound schedule of every graph, and the scheduler tries every row.
#include "compiler/place/place.h"
#include "compiler/schedule/lower_bounds.h"
#include "compiler/schedule/priorities.h"
#include "compiler/schedule/schedule.h"
#include "compiler/schedule/schedule_problem.h"
#include "compiler/transfer/insert_transfers.h"
#include "ir/verify/verify.h"
#include "runtime/executable_folder.h"
#include "tests/support/catch.h"
#include "tests/support/random_graph.h"
#include "tests/support/repinned.h"

#include <array>
#include <random>
#include <set>

namespace dfc::test {
namespace {

/// Both GPUs of the sample machine have two compute queues, so that schedules have waits within a device.
Machine twoQueuesEach() {
  Machine machine = *readMachine(shippedFile("samples/machines/cpu-2gpu.json").string());
  for (const DeviceId device : machine.devices.ids()) {
    if (machine.devices[device].kind == DeviceKind::Gpu) {
      machine.devices[device].computeQueues = 2;
    }
  }
  return machine;
}

PlacedGraph scattered(uint64_t seed, const Machine& machine) {
  RandomGraphOptions options;
  options.ops = 20 + seed % 40;
  options.scopes = {"a", "b", "a/c"};
  std::mt19937_64 random(seed);
  const std::array<std::string, 3> devices{"cpu0", "gpu0", "gpu1"};
  const Graph graph =
      repinned(randomGraph(seed, options), [&](OpId) { return devices[random() % devices.size()]; });
  const auto placement = place(graph, machine, RooflineCostModel(), "pins");
  INFO((placement.ok() ? "" : render(placement.errors())));
  REQUIRE(placement.ok());
  return insertTransfers(*placement, machine);
}

} // namespace

TEST_CASE("priorities: every row has a name of its own and says what it ranks by") {
  std::set<std::string_view> names;
  for (const PriorityRow& row : allPriorities()) {
    CHECK(names.insert(row.name).second);
    CHECK(!row.what.empty());
  }
}

TEST_CASE("priorities: every row gives sound schedules, none shorter than the one that is kept") {
  const Machine machine = twoQueuesEach();
  const RooflineCostModel cost;
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    const PlacedGraph placed = scattered(seed, machine);
    const ScheduleProblem problem = scheduleProblem(placed, machine, cost);
    const LowerBounds bounds = lowerBounds(problem.list);
    const double kept = predictedMakespan(placed, machine, cost, bounds.best());
    for (const PriorityRow& row : allPriorities()) {
      INFO("seed " << seed << ", priority " << row.name);
      const std::vector<double> ranks = row.ranks(problem.list);
      if (ranks.empty()) { // the graphs have no micro-batches
        continue;
      }
      const ListResult result = listSchedule(problem.list, ranks);
      const Diagnostics flaws = verifySchedule(scheduleOf(problem, result, bounds), placed, machine);
      INFO(render(flaws));
      CHECK(flaws.empty());
      // Up to the rounding at which the search ends, and to what the row has to gain.
      CHECK(kept <= result.makespan * (1 + 1e-8) / (1 - row.gain));
    }
  }
}

TEST_CASE("priorities: earlier micro-batches come first, also where numbers are left out") {
  ListProblem problem;
  problem.groupQueues = {1};
  for (const uint32_t number : {5U, 2U, noMicroBatch, 2U, 7U}) {
    ListTask task;
    task.seconds = 1;
    task.microBatch = number;
    problem.tasks.push_back(task);
  }
  const std::vector<double> ranks = microBatchRanks(problem);
  CHECK(ranks[1] == ranks[3]);
  CHECK(ranks[1] > ranks[0]);
  CHECK(ranks[0] > ranks[4]);
  CHECK(ranks[4] > 0.99);
  problem.tasks = {ListTask()};
  CHECK(microBatchRanks(problem).empty());
}

} // namespace dfc::test
