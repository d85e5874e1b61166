// Quotients of grids: one device a stage and its mirrors, beside all devices.
#include "compiler/place/place.h"
#include "compiler/quotient/quotient_machine.h"
#include "compiler/quotient/quotient_plans.h"
#include "compiler/run_passes.h"
#include "compiler/split/unfold_batch_norms.h"
#include "tests/compiler/split/deep_net.h"
#include "tests/support/catch.h"
#include "tests/support/matchers.h"
#include "tests/support/parsed.h"

#include <cmath>

namespace dfc::test {
namespace {

double makespanOf(const Graph& graph, const Machine& machine) {
  const RooflineCostModel cost;
  const auto fused = runPasses(PassPhase::Fuse, graph, machine, CompileOptions());
  REQUIRE(fused.ok());
  const auto placement = place(*fused, machine, cost, "pins");
  REQUIRE(placement.ok());
  return predictedMakespan(*placement, decided(*placement, machine, cost, {}));
}

} // namespace

TEST_CASE("a quotient takes as long as the grid that it stands for") {
  const RooflineCostModel cost;
  const CompileOptions options;
  double ofOps = 0, ratios = 0, extrapolated = 0;
  int count = 0, pipelines = 0;
  for (const auto& [gpus, each] :
       {std::pair(2U, 2U), std::pair(8U, 8U), std::pair(16U, 16U), std::pair(8U, 4U), std::pair(16U, 4U)}) {
    const Machine machine = hostsOf(gpus, each);
    const Graph graph = unfoldBatchNorms(rewritten(parsed(deepNet(4096, 512)), machine));
    const std::vector<DeviceId> devices = largestClass(machine);
    REQUIRE(devices.size() == gpus);
    for (size_t width = 1; width <= each; width *= 2) {
      for (size_t stages = 1; stages * width <= gpus; stages *= 2) {
        const Grid grid{stages, gpus / width / stages, width};
        const MicroBatches batches{stages == 1 ? 1 : 2 * stages};
        const auto all = splitOverGrid(graph, gridRows(devices, grid), machine, cost, batches);
        const QuotientMachine quotient = quotientMachine(machine, devices, grid, cost);
        const auto one = splitOverGrid(graph, quotient.rows, quotient.machine, cost, batches);
        REQUIRE(all);
        REQUIRE(one);
        const double whole = makespanOf(all->graph, machine);
        const double seconds = makespanOf(one->graph, quotient.machine);
        // Groups of several devices: the list scheduler orders the sums of a device among its products, on
        // each device in another order.
        INFO(gpus << " GPUs, hosts of " << each << ": " << stages << " stages, groups of " << width);
        CHECK(seconds == Approx(whole).epsilon(width > 1 ? 0.08 : 0.025));
        if (stages > 1) { // from one and two micro-batches; from all
          QuotientPlanner planner(graph, machine, devices, {grid, batches.count}, cost, options);
          const auto plan = planner.first();
          REQUIRE(plan);
          CHECK(plan->seconds == Approx(whole).epsilon(0.15));
          CHECK(planner.simulatedWhole(*plan).seconds == Approx(whole).epsilon(width > 1 ? 0.08 : 0.025));
          extrapolated += std::abs(std::log(plan->seconds / whole));
          ++pipelines;
        }
        ofOps += static_cast<double>(one->graph.opCount()) / static_cast<double>(all->graph.opCount());
        ratios += std::abs(std::log(seconds / whole));
        ++count;
      }
    }
  }
  CHECK(std::exp(ratios / count) < 1.015);
  CHECK(std::exp(extrapolated / pipelines) < 1.05);
  CHECK(ofOps / count < 0.5);
}

TEST_CASE("a quotient's mirrored parts of parameters are assigned at the end of a step") {
  const RooflineCostModel cost;
  const Machine machine = hostsOf(8, 8);
  const Graph graph = rewritten(parsed(deepNet(4096, 512)), machine);
  const QuotientMachine quotient = quotientMachine(machine, largestClass(machine), {1, 8, 1}, cost);
  const auto one = splitOverGrid(graph, quotient.rows, quotient.machine, cost);
  REQUIRE(one);
  const std::string mirror = quotient.machine.devices[quotient.rows.stages[0].back()].name;
  size_t parameters = 0, assigned = 0;
  for (const OpId op : one->graph.opsOf(OpKind::Parameter)) {
    parameters += one->graph.pinOf(op) == mirror ? 1 : 0;
  }
  for (const OpId op : one->graph.opsOf(OpKind::Assign)) {
    assigned += one->graph.pinOf(op) == mirror ? 1 : 0;
  }
  CHECK(parameters > 0);
  CHECK(assigned == parameters);
}

TEST_CASE("quotient plans: the quickest that fits first, and no plan for so many devices") {
  const Machine machine = hostsOf(16, 4);
  const auto plans = quotientPlans(parsed(deepNet(4096, 512)), machine, RooflineCostModel(), {});
  REQUIRE(plans.ok());
  REQUIRE(plans->size() > 4);
  for (size_t i = 0; i < plans->size(); ++i) {
    const QuotientPlan& plan = (*plans)[i];
    INFO(plan.description);
    CHECK(plan.fits);
    CHECK(plan.seconds > 0);
    CHECK(plan.memoryBytes >= plan.stateBytes);
    CHECK(plan.grid.stages * plan.grid.groups * plan.grid.width == 16);
    CHECK((i == 0 || plan.seconds >= (*plans)[i - 1].seconds));
  }
  Machine large = hostsOf(136, 8);
  const auto refused = compile(parsed(deepNet(64)), large, RooflineCostModel());
  REQUIRE(!refused.ok());
  CHECK_THAT(render(refused.errors()), containing("a plan is made for at most 128 devices"));
  for (const DeviceId device : large.devices.ids()) {
    large.devices[device].memoryBytes = 1000;
  }
  const auto none = quotientPlans(parsed(deepNet(64)), large, RooflineCostModel(), {});
  REQUIRE(none.ok());
  CHECK(none->empty());
}

TEST_CASE("quotient plans: a wanted grid comes first, with its best number of micro-batches") {
  const Machine machine = hostsOf(16, 4);
  const Graph graph = parsed(deepNet(4096, 512));
  const auto all = quotientPlans(graph, machine, RooflineCostModel(), {});
  REQUIRE(all.ok());
  const QuotientPlan& last = all->back();
  const auto wanted = quotientPlans(graph, machine, RooflineCostModel(), {}, WantedGrid{last.grid});
  REQUIRE(wanted.ok());
  CHECK(wanted->front().grid == last.grid);
  CHECK(wanted->front().isOwn);
  CHECK(wanted->front().seconds <= last.seconds); // those far behind the best are not tried with more
  CHECK((*wanted)[1].description == all->front().description);
  const auto two = quotientPlans(graph, machine, RooflineCostModel(), {}, WantedGrid{{2, 8, 1}, 2});
  REQUIRE(two.ok());
  CHECK(two->front().microBatches == 2);
  CHECK(!two->front().isOwn);
  CHECK(!quotientPlans(graph, machine, RooflineCostModel(), {}, WantedGrid{{2, 4, 1}}).ok());
  CHECK(
      !quotientPlans(graph, machine, RooflineCostModel(), {}, WantedGrid{{2, 8, 1}, 3}).ok()); // of 512 rows
  CHECK(!quotientPlans(graph, machine, RooflineCostModel(), {}, WantedGrid{{1, 16, 1}, 1024}).ok());
}

TEST_CASE("quotient plans: micro-batches have equal lengths") {
  const Machine machine = hostsOf(16, 4);
  for (const int rows : {3072, 1920}) {
    const auto plans = quotientPlans(parsed(deepNet(rows, 512)), machine, RooflineCostModel(), {});
    REQUIRE(plans.ok());
    for (const QuotientPlan& plan : *plans) {
      INFO(rows << " rows: " << plan.description);
      CHECK(static_cast<size_t>(rows) / plan.grid.groups % plan.microBatches == 0);
    }
  }
}

TEST_CASE("quotient plans: with less memory, more micro-batches or recomputation") {
  Machine machine = hostsOf(4, 4);
  const Graph graph = rewritten(parsed(deepNet(4096, 512)), machine);
  const std::vector<DeviceId> devices = largestClass(machine);
  const auto planned = [&](double bytes) {
    for (const DeviceId device : devices) {
      machine.devices[device].memoryBytes = static_cast<int64_t>(bytes);
    }
    const RooflineCostModel cost;
    const CompileOptions options;
    QuotientPlanner planner(graph, machine, devices, {{1, 4, 1}}, cost, options);
    auto plan = planner.first();
    return plan ? std::optional(planner.improved(*std::move(plan))) : std::nullopt;
  };
  const auto ample = planned(0);
  REQUIRE(ample);
  CHECK(ample->microBatches == 1);
  CHECK(!ample->recomputes);
  const auto scarce = planned(0.95 * ample->memoryBytes);
  REQUIRE(scarce);
  INFO(scarce->description);
  CHECK((scarce->recomputes || scarce->microBatches > 1));
  CHECK(scarce->fits);
  CHECK(scarce->seconds >= ample->seconds);
  CHECK(scarce->memoryBytes <= 0.95 * ample->memoryBytes);
  CHECK(!planned(1000)->fits);
}

} // namespace dfc::test
