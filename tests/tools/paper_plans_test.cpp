// Published plans beside the compiler's, in predicted seconds: the rows "paper" of dfc-bench.
#include "compiler/quotient/quotient_plans.h"
#include "compiler/split/mesh.h"
#include "ir/verify/verify.h"
#include "tests/support/catch.h"
#include "tools/bench/graphs/pipeline_tasks.h"
#include "tools/bench/papers/host_machines.h"
#include "tools/bench/papers/paper_cases.h"

#include <algorithm>

namespace dfc::test {
namespace {

using namespace bench;

constexpr double mostRatio = 1.01, gain = 0.95;
/// The head, whose weights are the embedding's, may be cut along the vocabulary.
constexpr double mostOverNetwork = 0.1;

/// With at most so many layers.
PricedCase pricedWith(const PaperCase& full, int64_t layers, int64_t batch) {
  PaperCase one = withFewerLayers(full, layers);
  if (batch < one.batch) {
    one.batch = batch;
    one.published.microBatches.reset();
  }
  const auto graph = graphOf(one);
  REQUIRE(graph.ok());
  auto made = priced(one, *graph, machineOf(one, full));
  INFO((made.ok() ? "" : render(made.errors())));
  REQUIRE(made.ok());
  return *std::move(made);
}

/// A published plan that does not fit into memory, as the simulation counts it, is no limit for one that
/// fits.
void checkTable(llvm::function_ref<bool(const PaperCase&)> isMeant) {
  for (const PaperCase& full : paperCases()) {
    if (isMeant(full)) {
      const PricedCase made = pricedWith(full, 8, full.batch);
      INFO(full.name << ": " << made.found.description << " beside " << made.published.description);
      CHECK((made.ratio() <= mostRatio || (made.found.fits && !made.published.fits)));
      CHECK((full.gpus <= gpusPerHost || made.tensorParallelOverHosts() < mostOverNetwork));
    }
  }
}

void checkPipeline(size_t stages, size_t microBatches) {
  const PipelineTasks pipeline{stages, microBatches};
  const auto plan = plannedPipeline(pipeline);
  REQUIRE(plan.ok());
  INFO(stages << " stages, " << microBatches << " micro-batches");
  CHECK(plan->schedule.makespan <= pipeline.oneForwardOneBackward());
  CHECK(plan->schedule.makespan <= 1.02 * pipeline.leastSeconds());
  CHECK(plan->schedule.makespan >= (1 - 1e-9) * pipeline.leastSeconds());
}

} // namespace

TEST_CASE("papers: machines are hosts of eight GPUs") {
  const RooflineCostModel cost;
  for (const Machine& machine : {v100Hosts(16), a100Hosts(32)}) {
    INFO(machine.name);
    CHECK(verifyMachine(machine).empty());
    const std::vector<DeviceId> gpus = largestClass(machine);
    CHECK(gpus.size() + 1 == machine.devices.size());
    CHECK(domainSize(gpus, machine, cost) == gpusPerHost);
  }
  // 25 Gb/s are 3.125 GB/s: a GB takes 0.32 s, and 16 µs before the first byte.
  const Machine machine = v100Hosts(16);
  const auto gpus = largestClass(machine);
  CHECK(machine.seconds(*machine.directRoute(gpus[0], gpus[8]), 1'000'000'000) ==
        Approx(0.32).epsilon(0.001));
}

TEST_CASE("papers: every published grid has the devices of its machine, in hosts") {
  for (const PaperCase& one : paperCases()) {
    INFO(one.name);
    const Grid& grid = one.published.grid;
    CHECK(grid.stages * grid.groups * grid.width == one.gpus);
    CHECK(gpusPerHost % grid.width == 0);
    CHECK(one.sizes.width % one.sizes.heads == 0);
    CHECK(one.batch % static_cast<int64_t>(grid.groups * one.published.microBatches.value_or(1)) == 0);
  }
}

TEST_CASE("papers: auto is no worse than published plans of small graphs") {
  int large = 0, count = 0;
  for (const PaperCase& full : paperCases()) {
    if (full.gpus <= 4) {
      const PricedCase made = pricedWith(full, 2, 64);
      INFO(full.name << ": " << made.found.description << " beside " << made.published.description);
      CHECK(made.ratio() <= mostRatio);
      CHECK((full.gpus <= gpusPerHost || made.tensorParallelOverHosts() < mostOverNetwork));
      large += made.ratio() <= gain ? 1 : 0;
      ++count;
    }
  }
  CHECK(count == 2);
  CHECK(3 * large >= count);
}

TEST_CASE("papers: pipelines take no longer than 1F1B, and as long as they have to") {
  // F = B = W = 1, 4 stages, 8 micro-batches: 1F1B 11 * 3, ZB-H1 24 + 3 * 1, ZB-H2 24 + 3 * 1.
  const PipelineTasks pipeline{4, 8};
  CHECK(pipeline.oneForwardOneBackward() == 33);
  CHECK(pipeline.zeroBubbleH1() == 27);
  CHECK(pipeline.zeroBubbleH2() == 27);
  CHECK(pipeline.leastSeconds() == 27);
  for (const size_t stages : {4, 8}) {
    for (const size_t microBatches : {4, 8, 16}) {
      checkPipeline(stages, microBatches);
    }
  }
}

TEST_CASE("papers: auto is no worse than Alpa's plans", "[heavy]") {
  checkTable([](const PaperCase& one) { return one.isV100; });
}

TEST_CASE("papers: auto is no worse than Megatron's plans on up to 256 GPUs", "[heavy]") {
  checkTable([](const PaperCase& one) { return !one.isV100 && one.gpus <= 256; });
}

TEST_CASE("papers: auto is no worse than Megatron's plans on 512 and 1024 GPUs", "[heavy]") {
  checkTable([](const PaperCase& one) { return one.gpus > 256 && one.gpus <= 1024; });
}

TEST_CASE("papers: auto is no worse than Megatron's plan on 1536 GPUs", "[heavy]") {
  checkTable([](const PaperCase& one) { return one.gpus > 1024; });
}

TEST_CASE("papers: every pipeline of 4 to 16 stages and 4 to 64 micro-batches", "[heavy]") {
  for (size_t stages = 4; stages <= 16; ++stages) {
    for (const size_t microBatches : {4, 8, 16, 32, 64}) {
      checkPipeline(stages, microBatches);
    }
  }
}

} // namespace dfc::test
