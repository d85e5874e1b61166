// What placement compares is what compile() predicts: under each choice of launches, and with feeds that hide
// behind the step before.
#include "compiler/compile.h"
#include "compiler/considered.h"
#include "ir/graph/graph.h"
#include "tests/support/catch.h"
#include "tests/support/matchers.h"
#include "tests/support/parsed.h"
#include "tests/support/tiny_plan.h"

#include <fmt/format.h>

namespace dfc::test {
namespace {

class Listener : public CompileObserver {
 public:
  void considered(const ConsideredPlacements& all) override { placements = all; }
  ConsideredPlacements placements;
};

const char* const net = R"(graph net {
  input x : f32[2048, 1024]
  parameter w1 : f32[1024, 1024] = glorot(seed=1)
  parameter w2 : f32[1024, 256] = glorot(seed=2)
  h = relu(matmul(x, w1))
  y = matmul(h, w2)
  loss = reduceMean(mul(y, y))
  dw1, dw2 = gradients(loss, w1, w2)
  w1next = assign(w1, sub(w1, mul(dw1, 0.1)))
  w2next = assign(w2, sub(w2, mul(dw2, 0.1)))
  fetch loss
})";

/// Two devices at a rate that makes products worth a split.
Machine slowGpus() {
  Machine machine = smallMachine(2);
  for (const DeviceId device : machine.devices.ids()) {
    machine.devices[device].peakFlops.fill(1e11);
    machine.devices[device].memoryBandwidth = 1e12;
  }
  for (const LinkId link : machine.links.ids()) {
    machine.links[link].bandwidth = 1e11;
    machine.links[link].latencySeconds = 1e-6;
  }
  return machine;
}

} // namespace

TEST_CASE("placement compares the seconds that compile predicts") {
  for (const char* policy : {"auto", "split"}) {
    for (const int flags : {0, 1, 2, 3}) {
      INFO(policy << ", flags " << flags);
      Listener listener;
      CompileOptions options;
      options.policy = policy;
      options.mergeLaunches = (flags & 1) == 0;
      options.peerReads = (flags & 2) == 0;
      options.observer = &listener;
      const auto plan = compile(parsed(net), slowGpus(), RooflineCostModel(), options);
      REQUIRE(plan.ok());
      REQUIRE(listener.placements.chosen);
      const ConsideredPlacement& chosen = listener.placements.candidates[*listener.placements.chosen];
      CHECK(chosen.outcome == ConsideredPlacement::Outcome::Planned);
      CHECK(chosen.seconds == Approx(plan->predictedSeconds()));
      CHECK(chosen.split != nullptr); // else the machine is not one for splits
    }
  }
}

TEST_CASE(
    "policy single takes a GPU whose launches are merged, though each of them costs more than the CPU's") {
  std::string text = "graph g {\n";
  for (int i = 0; i < 60; ++i) {
    text += fmt::format(
        "  parameter w{0} : f32[256] = uniform(0, 1, seed=1)\n  a{0} = assign(w{0}, mul(w{0}, 0.5))\n", i);
  }
  Machine machine = smallMachine(1);
  machine.devices[machine.findDevice("cpu0")].launchSeconds = 1e-6;
  machine.devices[machine.findDevice("gpu0")].launchSeconds = 2.5e-6;
  for (const bool merge : {true, false}) {
    CompileOptions options;
    options.policy = "single";
    options.mergeLaunches = merge;
    const auto plan = compile(parsed(text + "}"), machine, RooflineCostModel(), options);
    REQUIRE(plan.ok());
    CHECK(plan->policy() == (merge ? "gpu0 alone" : "cpu0 alone"));
  }
}

TEST_CASE("a search by steps makes no plan slower, and the same plan each time") {
  const auto planned = [](const char* policy, uint64_t steps) {
    Listener listener;
    CompileOptions options;
    options.policy = policy;
    options.planSteps = steps;
    options.observer = &listener;
    const auto plan = compile(parsed(net), slowGpus(), RooflineCostModel(), options);
    REQUIRE(plan.ok());
    REQUIRE(listener.placements.chosen);
    CHECK(listener.placements.candidates[*listener.placements.chosen].seconds ==
          Approx(plan->predictedSeconds()));
    return plan->predictedSeconds();
  };
  for (const char* policy : {"auto", "split"}) {
    INFO(policy);
    const double searched = planned(policy, 60);
    CHECK(searched <= planned(policy, 0));
    CHECK(searched == planned(policy, 60));
  }
}

TEST_CASE("a search keeps the cuts that were asked for") {
  CompileOptions options;
  options.splits = {{"w1", 1, "gpu*"}};
  options.planSteps = 60;
  Listener listener;
  options.observer = &listener;
  REQUIRE(compile(parsed(net), slowGpus(), RooflineCostModel(), options).ok());
  const SplitGraph& split = *listener.placements.candidates[*listener.placements.chosen].split;
  const OpId w1 = split.whole[split.whole.findValue("w1")].producer;
  CHECK(split.plan.option[w1].results[0] == Layout::cut(1));
}

TEST_CASE("cuts of values beside a policy of whole ops are an error") {
  CompileOptions options;
  options.policy = "heft";
  options.splits = {{"x", 0, "gpu*"}};
  const auto plan = compile(parsed(net), slowGpus(), RooflineCostModel(), options);
  REQUIRE_FALSE(plan.ok());
  CHECK_THAT(render(plan.errors()), containing("policy 'heft' places whole ops"));
}

TEST_CASE("placement: where launches alone take far longer than one device does, no split is made") {
  // 153 ops of 16 elements: launches of 1 ms on the GPUs, next to nothing on the CPU.
  std::string text = "graph g {\n  input x : f32[16]\n  a0 = sin(x)\n  b0 = reduceSum(a0)\n";
  for (int i = 1; i <= 50; ++i) {
    text += fmt::format("  a{0} = sin(a{1} + b{1})\n  b{0} = reduceSum(a{0})\n", i, i - 1);
  }
  Machine machine = slowGpus();
  for (const DeviceId device : machine.devices.ids()) {
    machine.devices[device].launchSeconds = machine.devices[device].kind == DeviceKind::Gpu ? 1e-3 : 0;
  }
  Listener listener;
  CompileOptions options;
  options.observer = &listener;
  REQUIRE(compile(parsed(text + "  fetch b50\n}\n"), machine, RooflineCostModel(), options).ok());
  REQUIRE(!listener.placements.candidates.empty());
  for (const ConsideredPlacement& one : listener.placements.candidates) {
    INFO(one.description);
    CHECK(one.split == nullptr);
  }
}

} // namespace dfc::test
