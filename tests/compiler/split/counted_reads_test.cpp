// Reads of large values at peers, in plans that are counted.
#include "compiler/grids.h"
#include "compiler/place/place.h"
#include "compiler/place/planned_seconds.h"
#include "compiler/split/unfold_batch_norms.h"
#include "tests/compiler/split/deep_net.h"
#include "tests/support/catch.h"
#include "tests/support/parsed.h"

namespace dfc::test {

TEST_CASE("large reads at peers: a plan with them is no slower than one that copies") {
  const RooflineCostModel cost;
  for (const auto& [gpus, width] : {std::pair(8U, 2U), std::pair(8U, 4U), std::pair(16U, 4U)}) {
    const Machine machine = hostsOf(gpus, 4);
    const Graph graph = unfoldBatchNorms(rewritten(parsed(deepNet(4096, 512)), machine));
    const Grid grid{1, gpus / width, width};
    const auto split = splitOverGrid(graph, gridRows(largestClass(machine), grid), machine, cost);
    REQUIRE(split);
    const auto fused = runPasses(PassPhase::Fuse, split->graph, machine, CompileOptions());
    REQUIRE(fused.ok());
    const auto placement = place(*fused, machine, cost, "pins");
    REQUIRE(placement.ok());
    LowerOptions lowering;
    const auto chosen = plannedSeconds(*placement, decided(*placement, machine, cost, lowering));
    lowering.largePeerReads = false;
    const auto copied = plannedSeconds(*placement, decided(*placement, machine, cost, lowering));
    REQUIRE(chosen);
    REQUIRE(copied);
    INFO(gpus << " GPUs, groups of " << width);
    CHECK(chosen->seconds <= 1.01 * copied->seconds); // by the ratio from which such reads are doubted
  }
}

} // namespace dfc::test
