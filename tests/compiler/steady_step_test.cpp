// What feeds take: staging of what a GPU reads, and a step among many, whose feeds are brought meanwhile.
#include "compiler/compile.h"
#include "compiler/simulate/simulate.h"
#include "ir/author/dsl.h"
#include "ir/graph/graph.h"
#include "ir/plan/executable_parts.h"
#include "ir/plan/feeds.h"
#include "tests/support/catch.h"

namespace dfc {
namespace {

constexpr int64_t large = leastPrefetchedBytes;

/// A large feed takes 1 s to stage, 2 s on the link and 1 + 0.25 s to be copied within the gpu, whose
/// launches take 1 s; it reads one in 0.125 s. A sum of that many takes two launches.
Machine machineByHand() {
  Machine machine;
  DeviceRow cpu, gpu;
  cpu.name = "cpu0";
  cpu.memoryBandwidth = 2.0 * large;
  gpu.name = "gpu0";
  gpu.kind = DeviceKind::Gpu;
  gpu.memoryBandwidth = 8.0 * large;
  gpu.launchSeconds = 1;
  machine.devices.add(cpu);
  machine.devices.add(gpu);
  const LinkId in = machine.links.add({"in", 0, large / 2.0, 1}), out = machine.links.add({"out", 0, 0, 1});
  machine.routes = {{DeviceId(0), DeviceId(1), {in}}, {DeviceId(1), DeviceId(0), {out}}};
  return machine;
}

/// The sum of a feed of so many bytes.
Executable sumOfFeed(int64_t bytes, std::string_view device, const Machine& machine) {
  Builder g("sum");
  g.fetch("s", reduceSum(g.input("x", f32({bytes / 4}))).on(device));
  auto plan = compile(*std::move(g).finish(), machine, RooflineCostModel());
  INFO((plan.ok() ? "" : render(plan.errors())));
  REQUIRE(plan.ok());
  const auto again = Executable::parse(plan->serialise(), "plan"); // which computes the bounds anew
  CHECK(again.ok());
  return *std::move(plan);
}

/// The sums of the parts between the two launches are a ten thousandth of the feed.
Approx about(double seconds) { return Approx(seconds).epsilon(1e-4); }

double secondsOfInput(const Executable& plan) {
  const Schedule& schedule = plan.schedule();
  return schedule.steps[schedule.stepOf[plan.graph().opsOf(OpKind::Input)[0]]].alone();
}

} // namespace

TEST_CASE("feeds: the host copies what a gpu reads, and leaves what it reads itself where it is") {
  Machine machine = machineByHand();
  CHECK(secondsOfInput(sumOfFeed(large, "gpu0", machine)) == 1); // 2 x large over 2 x large a second
  const Executable onHost = sumOfFeed(large, "cpu0", machine);
  CHECK(secondsOfInput(onHost) == 0);
  CHECK(onHost.predictedSeconds() == onHost.schedule().makespan);
  CHECK(onHost.lowerBoundSeconds() == onHost.schedule().bounds.best());
}

TEST_CASE("steady step: a large feed is staged and copied while the step before computes") {
  const Executable plan = sumOfFeed(large, "gpu0", machineByHand());
  const double sum = 2 + 0.125;
  CHECK(plan.schedule().makespan == about(1 + 2 + sum));
  CHECK(simulate(plan).makespan == plan.schedule().makespan);
  CHECK(plan.predictedSeconds() == about(1.25 + sum)); // longer than the feed's 2 s on its link
  CHECK(plan.lowerBoundSeconds() == about(1.25 + sum));
}

TEST_CASE("steady step: it takes no less than its feeds") {
  Machine machine = machineByHand();
  machine.devices[DeviceId(1)].launchSeconds = 0;
  const Executable byLink = sumOfFeed(large, "gpu0", machine);
  CHECK(byLink.predictedSeconds() == 2);
  CHECK(byLink.lowerBoundSeconds() == 2);
  machine.links[LinkId(0)].bandwidth = 4.0 * large;
  const Executable byStaging = sumOfFeed(large, "gpu0", machine);
  CHECK(byStaging.predictedSeconds() == 1);
  CHECK(byStaging.lowerBoundSeconds() == 1);
}

TEST_CASE("steady step: the copy of a small feed belongs to its step, its staging does not") {
  const int64_t small = large / 2;
  const Executable plan = sumOfFeed(small, "gpu0", machineByHand());
  const double sum = 2 + 0.0625;
  CHECK(plan.schedule().makespan == about(0.5 + 1 + sum));
  CHECK(plan.predictedSeconds() == about(1 + sum));
  CHECK(plan.lowerBoundSeconds() == about(1 + sum));
}

} // namespace dfc
