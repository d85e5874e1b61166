// Updates of parameters on the host: which ops they are, how many move, and that plans with them are chosen
// where memory is short.
#include "compiler/offload/offload_updates.h"

#include "compiler/compile.h"
#include "compiler/offload/state_updates.h"
#include "compiler/place/memory_demand.h"
#include "compiler/place/place.h"
#include "compiler/rematerialise/fit_by_repeating.h"
#include "compiler/rematerialise/rematerialise.h"
#include "compiler/run_passes.h"
#include "ir/verify/verify.h"
#include "tests/compiler/split/deep_net.h"
#include "tests/support/catch.h"
#include "tests/support/matchers.h"
#include "tests/support/parsed.h"
#include "tests/support/tiny_plan.h"

#include <fmt/format.h>

#include <limits>

namespace dfc::test {
namespace {

constexpr int layerCount = 6, width = 256;
constexpr int64_t weightBytes = int64_t{width} * width * 4;

/// Products of 256 x 256 in chains of `relu`, with `optimizer` behind them.
Graph chain(const std::string& optimizer, int layers = layerCount) {
  std::string text = fmt::format("graph net {{\n  input x : f32[512, {}]\n", width), now = "x";
  for (int i = 0; i < layers; ++i) {
    text += fmt::format("  parameter w{0} : f32[{1}, {1}] = glorot(seed={0})\n", i, width);
  }
  for (int i = 0; i < layers; ++i) {
    text += fmt::format("  h{0} = relu(matmul({1}, w{0}))\n", i, now);
    now = fmt::format("h{}", i);
  }
  text += fmt::format("  loss = reduceMean({0} * {0})\n  {1}\n  fetch loss\n}}", now, optimizer);
  return parsed(text);
}

const char* const adam = "adam(loss, rate=1e-3)";

Machine gpu(int64_t memory, uint32_t count = 1) {
  Machine machine = smallMachine(count);
  for (const DeviceId device : machine.devices.ids()) {
    DeviceRow& row = machine.devices[device];
    const bool isHost = device == machine.host();
    row.memoryBytes = isHost ? 0 : memory;
    row.peakFlops.fill(isHost ? 1e10 : 1e12);
    row.memoryBandwidth = isHost ? 1e10 : 1e11;
  }
  return machine;
}

Placement onGpu(const Graph& written, const Machine& machine) {
  const auto fused = runPasses(PassPhase::Fuse, rewritten(written, machine), machine, {});
  REQUIRE(fused.ok());
  const RooflineCostModel cost;
  const PlacementProblem problem{*fused, machine, cost, SideTable<OpId, DeviceId>(fused->opCount()), {}};
  return placeOn(problem, machine.findDevice("gpu0"));
}

double stateOn(const Placement& placement, const Machine& machine) {
  return memoryDemand(placement, machine).state[machine.findDevice("gpu0")];
}

std::vector<StateUpdate> updatesOf(const Placement& placement, const Machine& machine) {
  return stateUpdates(placement, SideTable<OpId, bool>(placement.graph.opCount(), true),
                      SideTable<DeviceId, int64_t>(machine.devices.size(), 4096));
}

} // namespace

TEST_CASE("updates on the host: Adam's free its moments, each weight's update by itself") {
  const Machine machine = gpu(1 << 30);
  const auto updates = updatesOf(onGpu(chain(adam), machine), machine);
  REQUIRE(updates.size() == layerCount);
  for (const StateUpdate& update : updates) {
    CHECK(update.parameters.size() == 3);
    CHECK(update.assigns.size() == 3);
    CHECK(update.freedBytes == 2 * weightBytes); // a replica of the weight stays for the products
  }
}

TEST_CASE("updates on the host: what frees no memory is no update to move") {
  const Machine machine = gpu(1 << 30);
  CHECK(updatesOf(onGpu(chain("sgd(loss, rate=1e-2)"), machine), machine).empty());
  const Placement adams = onGpu(chain(adam), machine);
  CHECK(stateUpdates(adams, SideTable<OpId, bool>(adams.graph.opCount(), false),
                     SideTable<DeviceId, int64_t>(machine.devices.size(), 4096))
            .empty());
  CHECK(stateUpdates(adams, SideTable<OpId, bool>(adams.graph.opCount(), true),
                     SideTable<DeviceId, int64_t>(machine.devices.size(), weightBytes + 1))
            .empty());
}

TEST_CASE("updates on the host: a parameter read in 16 bits leaves no f32 behind") {
  std::string text = fmt::format("graph net {{\n  input x : bf16[512, {0}]\n  parameter w : f32[{0}, {0}] = "
                                 "glorot(seed=1)\n  h = matmul(x, cast(w, to=bf16))\n"
                                 "  loss = reduceMean(cast(h * h, to=f32))\n  {1}\n  fetch loss\n}}",
                                 width, adam);
  const Machine machine = gpu(1 << 30);
  const auto updates = updatesOf(onGpu(parsed(text), machine), machine);
  REQUIRE(updates.size() == 1);
  CHECK(updates.front().freedBytes == 3 * weightBytes);
}

TEST_CASE("updates on the host: as many as memory lacks, the first gradients first") {
  const Machine ample = gpu(1 << 30);
  const Placement placement = onGpu(chain(adam), ample);
  const StepOrder order = stepOrder(placement, ample, RooflineCostModel());
  const DeviceId device = ample.findDevice("gpu0");
  const int64_t need = (int64_t{1} << 30) - order.available[device] + order.peak[device];
  CHECK_FALSE(offloadUpdates(placement, order, ample, RooflineCostModel(), 0));
  for (const size_t layers : {1, 3}) {
    for (const StateCopies copies : {StateCopies::None, StateCopies::Allowed}) {
      INFO("the moments of " << layers << " layers have to leave");
      Machine machine = ample;
      machine.devices[device].memoryBytes =
          need - 2 * static_cast<int64_t>(layers) * weightBytes + weightBytes / 2;
      const auto made = offloadUpdates(placement, stepOrder(placement, machine, RooflineCostModel()), machine,
                                       RooflineCostModel(), 0, copies);
      REQUIRE(made);
      const bool isCopied = copies == StateCopies::Allowed; // this host computes longer than links copy
      CHECK(made->onHost == (isCopied ? 0 : 3 * layers));
      CHECK(made->streamed == (isCopied ? 2 * layers : 0));
      CHECK(verifyPlacement(made->placement, machine).empty());
      CHECK(stateOn(made->placement, machine) ==
            Approx(stateOn(placement, ample) - 2.0 * static_cast<double>(layers) * weightBytes));
      const Graph& graph = made->placement.graph;
      const std::string last = fmt::format("w{}.adamM", layerCount - 1); // its gradient is the first
      CHECK(made->placement.device[graph[graph.findValue(last)].producer] == machine.host());
    }
  }
}

TEST_CASE("state on the host: copies behind updates there, whose gradients make room for them") {
  const Machine ample = gpu(1 << 30);
  const Placement placement = onGpu(chain(adam), ample);
  Machine machine = ample;
  const DeviceId device = ample.findDevice("gpu0");
  machine.devices[device].memoryBytes = 1 << 20;
  const auto made = offloadUpdates(placement, stepOrder(placement, machine, RooflineCostModel()), machine,
                                   RooflineCostModel(), 1, StateCopies::Later);
  REQUIRE(made);
  // Room for four moments, which gradients of one weight each make.
  CHECK(made->onHost == 3 * 4);
  CHECK(made->streamed == 2 * (layerCount - 4));
  CHECK(verifyPlacement(made->placement, machine).empty());
  const Graph& graph = made->placement.graph;
  for (int layer = 0; layer < layerCount; ++layer) {
    INFO("layer " << layer << ", the last of which has the first gradient");
    const OpId weight = graph[graph.findValue(fmt::format("w{}", layer))].producer;
    const OpId moment = graph[graph.findValue(fmt::format("w{}.adamM", layer))].producer;
    CHECK((made->placement.device[weight] == machine.host()) == (layer >= layerCount - 4));
    CHECK(made->placement.device[moment] == machine.host());
    CHECK(made->placement.streamed[moment] == (layer < layerCount - 4));
  }
}

TEST_CASE("state on the host: an update that costs the host less than copies runs there") {
  Machine machine = gpu(1 << 20);
  machine.devices[machine.host()].memoryBandwidth = 1e15;
  machine.devices[machine.host()].peakFlops.fill(1e15);
  for (const LinkId link : machine.links.ids()) {
    machine.links[link].bandwidth = 1e9;
  }
  const Placement placement = onGpu(chain(adam), machine);
  const auto made = offloadUpdates(placement, stepOrder(placement, machine, RooflineCostModel()), machine,
                                   RooflineCostModel(), 1);
  REQUIRE(made);
  CHECK(made->onHost == 3 * layerCount);
  CHECK(made->streamed == 0);
}

TEST_CASE("updates on the host: chosen where the state exceeds the devices, on one and on two") {
  for (const uint32_t count : {1, 2}) {
    INFO(count << " GPUs");
    const int64_t cap = (count == 1 ? 14 : 8) * weightBytes; // of 18 for the parameters, and the values
    const auto plan = compile(chain(adam), gpu(cap, count), RooflineCostModel(), {});
    INFO(render(plan.errors()));
    REQUIRE(plan.ok());
    CHECK(plan->policy().find(" on cpu0 for memory") != std::string::npos);
    const auto roomy = compile(chain(adam), gpu(1 << 30, count), RooflineCostModel(), {});
    REQUIRE(roomy.ok());
    CHECK(plan->predictedSeconds() < 5 * roomy->predictedSeconds()); // the host alone: 80 times
  }
}

TEST_CASE("state on the host: ops are computed twice where copies come when they are needed") {
  const Machine machine = gpu(26 * weightBytes);
  const RooflineCostModel cost;
  const Placement placement = onGpu(chain(adam, 9), machine);
  const auto made = offloadUpdates(placement, stepOrder(placement, machine, cost), machine, cost, 0.1);
  REQUIRE(made);
  REQUIRE(made->streamed == 2 * 9);
  Placement fitted = made->placement;
  const StepOrder order = stepOrder(fitted, machine, cost);
  CHECK_FALSE(rematerialise(fitted, order, machine, cost, 0.97)); // gradients gather
  LeastNeed need;
  CHECK(fitByRepeating(fitted, order, machine, cost, {}, std::numeric_limits<double>::infinity(), need));
  CHECK(fitted.policy.find("computed twice for memory") != std::string::npos);
  CHECK(verifyPlacement(fitted, machine).empty());
}

TEST_CASE("updates stay where the author pins them") {
  CompileOptions options;
  options.pins = {{"*", "gpu0"}};
  const auto plan = compile(chain(adam), gpu(14 * weightBytes), RooflineCostModel(), options);
  REQUIRE_FALSE(plan.ok());
  CHECK(render(plan.errors()).find("memory") != std::string::npos);
}

} // namespace dfc::test
