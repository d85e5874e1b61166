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

TEST_CASE("large reads at peers are taken back where they lengthen a step") {
  const RooflineCostModel cost;
  Machine machine = hostsOf(8, 4);
  for (const LinkId link : machine.links.ids()) { // eight times the rate within a host
    machine.links[link].bandwidth *= machine.links[link].bandwidth == 50e9 ? 8 : 1;
  }
  const Graph graph = unfoldBatchNorms(rewritten(parsed(deepNet(2048, 512)), machine));
  const auto split = splitOverGrid(graph, gridRows(largestClass(machine), {1, 4, 2}), machine, cost);
  REQUIRE(split);
  const auto fused = runPasses(PassPhase::Fuse, split->graph, machine, CompileOptions());
  REQUIRE(fused.ok());
  const auto placement = place(*fused, machine, cost, "pins");
  REQUIRE(placement.ok());
  const PlacedGraph placed = insertTransfers(*placement, machine);
  const Schedule schedule = makeSchedule(placed, machine, cost, {true, true});
  const auto memory = planMemory(placed, schedule, machine);
  REQUIRE(memory.ok());
  const auto secondsWith = [&](bool large) {
    LowerOptions options;
    options.largePeerReads = large;
    Schedule counted = schedule;
    auto launches = lower({placed, counted, *memory, machine}, options);
    REQUIRE(launches.ok());
    countLaunches(counted, *launches, placed, machine, cost);
    return steadyStep(counted, *launches, placed, machine, cost).seconds;
  };
  REQUIRE(secondsWith(true) > 1.02 * secondsWith(false));
  Schedule chosen = schedule;
  REQUIRE(lowerCounted(placed, chosen, *memory, machine, cost, {}).ok());
  CHECK(chosen.steady.seconds == secondsWith(false));
}

} // namespace dfc::test
