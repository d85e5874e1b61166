// Updates of parameters on the host, where the products stay on a device: the same training as the
// reference's.
#include "tests/conformance/contenders.h"
#include "tests/conformance/evaluator_steps.h"

#include "compiler/offload/offload_updates.h"
#include "compiler/place/place.h"
#include "compiler/plan_placement.h"
#include "compiler/run_passes.h"
#include "ir/author/gradients.h"
#include "ir/author/optimizers.h"
#include "tests/conformance/require_plan.h"
#include "tests/support/catch.h"

using namespace dfc;
using namespace dfc::test;

namespace {

constexpr int64_t wide = 64;

/// Two layers with Adam, the second's weight read in 16 bits.
Graph twoLayers() {
  Builder g("two layers");
  const Tensor x = g.input("x", f32({16, wide}));
  const Tensor w0 = g.parameter("w0", f32({wide, wide}), glorot(1));
  const Tensor w1 = g.parameter("w1", f32({wide, wide}), glorot(2));
  const Tensor h = cast(tanh(matmul(x, w0)), ElementType::BF16);
  const Tensor y = cast(matmul(h, cast(w1, ElementType::BF16)), ElementType::F32);
  const Tensor loss = reduceMean(y * y);
  adam({w0, w1}, gradients(loss, {w0, w1}), {.rate = 1e-2});
  g.fetch("loss", loss);
  return requireGraph(std::move(g));
}

/// On the device, but the updates of all weights, or their moments.
Placement withStateOnHost(const Graph& graph, const Machine& machine, const std::string& device,
                          StateCopies copies) {
  const RooflineCostModel cost;
  const auto expanded = runPasses(PassPhase::Expand, graph, machine, {});
  REQUIRE(expanded.ok());
  const auto fused = runPasses(PassPhase::Fuse, *expanded, machine, {});
  REQUIRE(fused.ok());
  const PlacementProblem problem{*fused, machine, cost, SideTable<OpId, DeviceId>(fused->opCount()), {}};
  const Placement placement = placeOn(problem, machine.findDevice(device));
  Machine small = machine;
  small.devices[machine.findDevice(device)].memoryBytes = wide * wide * 4;
  small.devices[machine.host()].memoryBandwidth = copies == StateCopies::Allowed ? 1e6 : 0;
  const auto made = offloadUpdates(placement, stepOrder(placement, small, cost), small, cost, 1, copies);
  REQUIRE(made);
  CHECK(made->onHost == (copies == StateCopies::Allowed ? 0 : 6));
  CHECK(made->streamed == (copies == StateCopies::Allowed ? 4 : 0));
  return made->placement;
}

void checkTraining(const Contender& contender, const Graph& graph, const std::string& device,
                   StateCopies copies) {
  const Machine machine = contender.machine();
  auto plan =
      planPlacement(withStateOnHost(graph, machine, device, copies), machine, RooflineCostModel(), {});
  INFO(render(plan.errors()));
  REQUIRE(plan.ok());
  auto session = Session::open(std::make_shared<const Executable>(*std::move(plan)), contender.options());
  REQUIRE(session.ok());
  const auto fetch = [](const std::string& name, const Literal& expected, const Literal& actual) {
    INFO(name);
    CHECK(actual.at(0) == Approx(expected.at(0)).epsilon(2e-3));
  };
  const auto parameter = [](const std::string& name, const Literal& expected, const Literal& actual) {
    INFO(name);
    for (int64_t i = 0; i < expected.type().shape.elements(); ++i) {
      REQUIRE(actual.at(i) == Approx(expected.at(i)).epsilon(5e-3).margin(1e-4));
    }
  };
  compareSteps(**session, graph, {.steps = 4, .fetch = fetch, .parameter = parameter, .setsState = true});
}

} // namespace

TEST_CASE("state on the host: a training is the reference's, state under the author's names") {
  const Graph graph = twoLayers();
  for (const Contender& contender : contenders(Aspect::Values)) {
    for (const std::string& device : contender.devices()) {
      for (const StateCopies copies : {StateCopies::None, StateCopies::Allowed}) {
        if (device != "cpu0") {
          INFO(contender.name << ", " << device << (copies == StateCopies::Allowed ? ", copied" : ""));
          checkTraining(contender, graph, device, copies);
        }
      }
    }
  }
}
