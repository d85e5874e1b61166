// Reads of large values at peers, in plans whose launches are counted.
#include "compiler/grids.h"
#include "compiler/memory/plan_memory.h"
#include "compiler/place/place.h"
#include "compiler/schedule/schedule.h"
#include "compiler/simulate/count_launches.h"
#include "compiler/simulate/lower_counted.h"
#include "compiler/simulate/steady_step.h"
#include "compiler/split/unfold_batch_norms.h"
#include "compiler/transfer/insert_transfers.h"
#include "tests/compiler/split/deep_net.h"
#include "tests/support/catch.h"
#include "tests/support/parsed.h"

namespace dfc::test {
namespace {

/// What a grid is lowered from.
struct Stages {
  PlacedGraph placed;
  Schedule schedule;
  MemoryPlan memory;
};

Stages stagesOf(int rows, const Grid& grid, const Machine& machine) {
  const RooflineCostModel cost;
  const Graph graph = unfoldBatchNorms(rewritten(parsed(deepNet(rows, 512)), machine));
  const auto split = splitOverGrid(graph, gridRows(largestClass(machine), grid), machine, cost);
  REQUIRE(split);
  const auto fused = runPasses(PassPhase::Fuse, split->graph, machine, CompileOptions());
  REQUIRE(fused.ok());
  const auto placement = place(*fused, machine, cost, "pins");
  REQUIRE(placement.ok());
  PlacedGraph placed = insertTransfers(*placement, machine);
  Schedule schedule = makeSchedule(placed, machine, cost, {true, true});
  auto memory = planMemory(placed, schedule, machine);
  REQUIRE(memory.ok());
  return {std::move(placed), std::move(schedule), *std::move(memory)};
}

double secondsWith(bool large, const Stages& stages, const Machine& machine) {
  const RooflineCostModel cost;
  LowerOptions options;
  options.largePeerReads = large;
  Schedule counted = stages.schedule;
  auto launches = lower({stages.placed, counted, stages.memory, machine}, options);
  REQUIRE(launches.ok());
  countLaunches(counted, *launches, stages.placed, machine, cost);
  return steadyStep(counted, *launches, stages.placed, machine, cost).seconds;
}

} // namespace

TEST_CASE("large reads at peers are taken back where they lengthen a step") {
  Machine machine = hostsOf(8, 4);
  for (const LinkId link : machine.links.ids()) { // eight times the rate within a host
    machine.links[link].bandwidth *= machine.links[link].bandwidth == 50e9 ? 8 : 1;
  }
  int lengthened = 0;
  for (const int rows : {1024, 2048, 4096}) {
    for (const Grid& grid : {Grid{1, 8, 1}, Grid{1, 4, 2}, Grid{1, 2, 4}}) {
      const Stages stages = stagesOf(rows, grid, machine);
      const double with = secondsWith(true, stages, machine), without = secondsWith(false, stages, machine);
      Schedule chosen = stages.schedule;
      const auto lowered =
          lowerCounted(stages.placed, chosen, stages.memory, machine, RooflineCostModel(), {});
      REQUIRE(lowered.ok());
      INFO(rows << " rows, " << grid.groups << " groups of " << grid.width << ": " << with << ", "
                << without);
      CHECK((chosen.steady.seconds == with || chosen.steady.seconds == without));
      if (with > 1.015 * without) {
        CHECK(chosen.steady.seconds == without);
        ++lengthened;
      }
    }
  }
  CHECK(lengthened > 0);
}

} // namespace dfc::test
