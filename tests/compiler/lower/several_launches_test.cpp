// What the schedule of a plan says of an op that takes several launches: the sum of them by a model that
// prices one launch, and the measured seconds where the op was measured.
#include "compiler/compile.h"
#include "compiler/cost/calibrated_cost_model.h"
#include "ir/author/dsl.h"
#include "ir/graph/graph.h"
#include "ir/plan/executable_parts.h"
#include "runtime/executable_folder.h"
#include "tests/support/catch.h"

#include <algorithm>

using namespace dfc;

namespace {

/// A sum over the rows of a tall matrix: each block sums some rows, a second launch sums the blocks' sums.
Graph tallSum() {
  Builder g("sum");
  g.fetch("sum", reduceSum(g.parameter("x", f32({65536, 128})), {0}).named("sum"));
  return *std::move(g).finish();
}

Machine twoGpus() { return *readMachine(shippedFile("samples/machines/cpu-2gpu.json").string()); }

/// Seconds of the sum in the plan, and the number of its launches.
std::pair<double, size_t> secondsOfSum(const CostModel& cost) {
  CompileOptions options;
  options.policy = "single";
  options.skipPasses = {"hoist_invariant_ops"};
  const auto plan = compile(tallSum(), twoGpus(), cost, options);
  INFO(render(plan.errors()));
  REQUIRE(plan.ok());
  const Graph& graph = plan->graph();
  for (const OpId op : graph.ops()) {
    if (graph[op].kind() == OpKind::ReduceSum) {
      const auto& launches = plan->launches().launches;
      const auto own = std::count_if(launches.begin(), launches.end(), [&](const LaunchRow& row) {
        return std::find(row.ops.begin(), row.ops.end(), op) != row.ops.end();
      });
      const StepRow& step = plan->schedule().steps[plan->schedule().stepOf[op]];
      return {step.end - step.start, static_cast<size_t>(own)};
    }
  }
  FAIL("no sum in the plan");
  return {};
}

} // namespace

TEST_CASE("several launches: an op takes their sum, and what was measured where it was") {
  const RooflineCostModel roofline;
  const auto [estimated, launches] = secondsOfSum(roofline);
  REQUIRE(launches == 2);
  const double launch = twoGpus().devices[DeviceId(1)].launchSeconds;
  REQUIRE(launch > 0);
  CHECK(estimated > 2 * launch);

  const Graph graph = tallSum();
  Calibration table{twoGpus().devices[DeviceId(1)].model, {}};
  for (const OpId op : graph.ops()) {
    if (graph[op].kind() == OpKind::ReduceSum) {
      table.keep({{signatureOf(graph, op), launch / 2, ""}});
    }
  }
  REQUIRE(table.ops.size() == 1);
  CHECK(secondsOfSum(CalibratedCostModel({table}, roofline)).first == Approx(launch / 2));
}
