// Splits for little memory: parameters and optimizer states in parts, with the batch in micro-batches where
// that does not suffice, and the error where nothing fits.
#include "compiler/compile.h"
#include "compiler/grids.h"
#include "compiler/place/memory_demand.h"
#include "compiler/place/place.h"
#include "compiler/place/planned_seconds.h"
#include "compiler/rematerialise/step_order.h"
#include "compiler/run_passes.h"
#include "compiler/split/split.h"
#include "ir/graph/micro_batch.h"
#include "tests/compiler/split/deep_net.h"
#include "tests/support/catch.h"
#include "tests/support/matchers.h"
#include "tests/support/parsed.h"
#include "tests/support/tiny_plan.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc::test {
namespace {

constexpr int depth = 4, wide = 256;

/// Products of 256 x 256 with Adam's two moments: three times the bytes of parameters.
std::string adamNet(int rows) {
  std::string text = fmt::format("graph net {{\n  input x : f32[{}, {}]\n", rows, wide), now = "x";
  for (int i = 0; i < depth; ++i) {
    text += fmt::format("  parameter w{0} : f32[{1}, {1}] = glorot(seed={0})\n", i, wide);
  }
  for (int i = 0; i < depth; ++i) {
    text += fmt::format("  h{0} = relu(matmul({1}, w{0}))\n", i, now);
    now = fmt::format("h{}", i);
  }
  return text + fmt::format("  loss = reduceMean({0} * {0})\n  adam(loss, rate=1e-3)\n  fetch loss\n}}", now);
}

Machine gpus(uint32_t count, int64_t memory) {
  Machine machine = slowLinks(smallMachine(count));
  for (const DeviceId device : machine.devices.ids()) {
    if (device != machine.host()) {
      machine.devices[device].memoryBytes = memory;
      machine.devices[device].peakFlops.fill(1e11);
    }
  }
  return machine;
}

/// Bytes of state on the GPU that has most of it.
double mostState(const SplitGraph& split, const Machine& machine) {
  const auto fused = runPasses(PassPhase::Fuse, split.graph, machine, {});
  REQUIRE(fused.ok());
  const auto placed = place(*fused, machine, RooflineCostModel(), "pins");
  REQUIRE(placed.ok());
  double most = 0;
  const MemoryDemand demand = memoryDemand(*placed, machine);
  for (const DeviceId device : machine.devices.ids()) {
    most = std::max(most, demand.state[device]);
  }
  return most;
}

} // namespace

TEST_CASE("state in parts: no device keeps whole parameters, nor replicas of others' parameters") {
  const Machine machine = gpus(4, int64_t{1} << 30);
  const Graph graph = rewritten(parsed(adamNet(512)), machine);
  constexpr double state = 3.0 * depth * wide * wide * 4;
  const auto little = candidatesForLittleMemory(graph, machine, RooflineCostModel());
  REQUIRE_FALSE(little.empty());
  CHECK(mostState(little.front(), machine) < 1.1 * state / 4);
  const auto batches = batchesInLittleMemory(graph, 4, machine, RooflineCostModel());
  REQUIRE(batches.size() == 1);
  CHECK(batches.front().description == "split over gpu0 to gpu3, state in parts, 4 micro-batches");
  CHECK(mostState(batches.front(), machine) < 1.1 * state / 4);
  CHECK(batchesInLittleMemory(graph, 4, gpus(1, int64_t{1} << 30), RooflineCostModel()).empty());
  CHECK(batchesInLittleMemory(graph, 1024, machine, RooflineCostModel()).empty()); // of 512 rows
}

TEST_CASE("a pipeline in little memory: buffers of two sizes do not bring its stages to a halt") {
  const Machine ample = gpus(2, int64_t{1} << 30);
  const Graph graph = rewritten(parsed(adamNet(512)), ample);
  const std::vector<DeviceId> devices = {ample.findDevice("gpu0"), ample.findDevice("gpu1")};
  const auto split = splitOverGrid(graph, gridRows(devices, {2, 1, 1}), ample, RooflineCostModel(), {16});
  REQUIRE(split);
  const auto fused = runPasses(PassPhase::Fuse, split->graph, ample, {});
  REQUIRE(fused.ok());
  const auto placed = place(*fused, ample, RooflineCostModel(), "pins");
  REQUIRE(placed.ok());
  const StepOrder order = stepOrder(*placed, ample, RooflineCostModel());
  Machine machine = ample;
  const auto secondsWith = [&](double multiple) {
    for (const DeviceId device : devices) {
      const int64_t state = ample.devices[device].memoryBytes - order.available[device];
      machine.devices[device].memoryBytes =
          state + static_cast<int64_t>(multiple * static_cast<double>(order.peak[device]));
    }
    const auto planned = plannedSeconds(*placed, decided(*placed, machine, RooflineCostModel(), {}));
    return planned ? planned->seconds : -1;
  };
  const double roomy = secondsWith(100);
  for (const double multiple : {1.5, 2.0}) { // without fragmentation that is enough for all stages
    INFO("memory for " << multiple << " times the values of the sequential order");
    CHECK(secondsWith(multiple) >= 0.999 * roomy);
    CHECK(secondsWith(multiple) < 1.1 * roomy);
  }
}

TEST_CASE("nothing fits: the error names the plan that needs least") {
  CompileOptions options;
  options.policy = "single";
  const auto plan = compile(parsed(adamNet(4096)), gpus(1, 4 << 20), RooflineCostModel(), options);
  REQUIRE_FALSE(plan.ok());
  for (const Diagnostic& error : plan.errors()) {
    INFO(error.message);
    CHECK(error.message.find("the least that was found is ") != std::string::npos);
    CHECK(error.message.find("of the plans that were tried this one needs least: gpu0 alone; ") !=
          std::string::npos);
    CHECK(error.message.find(" micro-batches") != std::string::npos);
  }
}

} // namespace dfc::test
