// The verifiers: a sound plan passes, and each rule broken once is said by name. Messages are compared to the
// letter with tests/golden/verify/*.txt, one file a verifier, one paragraph a damage.
#include "ir/verify/verify.h"

#include "ir/author/dsl.h"
#include "ir/base/glob.h"
#include "tests/ir/plan/plan_fixture.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"
#include "tests/support/graph_surgeon.h"
#include "tests/support/tiny_plan.h"

#include <fmt/format.h>

#include <functional>
#include <limits>

using namespace dfc;
using test::HandPlan;

namespace {

using Damage = std::function<void(HandPlan&)>;
using Verifier = std::function<Diagnostics(const HandPlan&)>;

/// Each damage by itself to a fresh plan; what the verifier says of it, as one text.
class Gallery {
 public:
  Gallery(std::string name, Verifier verifier) : name_(std::move(name)), verifier_(std::move(verifier)) {
    CHECK(render(verifier_(HandPlan())) == "");
  }
  ~Gallery() { test::checkGolden("verify/" + name_ + ".txt", text_); }
  Gallery(const Gallery&) = delete;
  Gallery& operator=(const Gallery&) = delete;

  void show(const std::string& title, const Damage& damage) {
    INFO(title);
    HandPlan plan;
    damage(plan);
    const std::string said = render(verifier_(plan));
    CHECK(said != "");
    text_ += fmt::format("# {}\n{}\n", title, said);
  }

 private:
  std::string name_, text_;
  Verifier verifier_;
};

Diagnostics verifyMemoryOf(const HandPlan& plan) {
  return verifyMemoryPlan(plan.memory, plan.schedule, plan.placed, plan.machine);
}
Diagnostics verifyScheduleOf(const HandPlan& plan) {
  return verifySchedule(plan.schedule, plan.placed, plan.machine);
}

GraphSurgeon surgeon(HandPlan& plan) { return {plan.placed.graph}; }

} // namespace

TEST_CASE("glob: stars, question marks, and the whole text") {
  CHECK(globMatches("gpu*", "gpu0"));
  CHECK(globMatches("*", ""));
  CHECK(globMatches("*/loss", "train/step/loss"));
  CHECK(globMatches("a*b*c", "axxbyybzzc"));
  CHECK(globMatches("gpu?", "gpu1"));
  CHECK_FALSE(globMatches("gpu?", "gpu"));
  CHECK_FALSE(globMatches("gpu", "gpu0"));
  CHECK_FALSE(globMatches("a*b", "abc"));
  CHECK_FALSE(globMatches(std::string(40, '*') + "b", std::string(4000, 'a'))); // and soon
}

TEST_CASE("verifyGraph: each rule broken once") {
  Gallery gallery("graph", [](const HandPlan& plan) { return verifyGraph(plan.placed.graph); });
  gallery.show("an operand that comes later",
               [](HandPlan& p) { surgeon(p).op(p.op("y")).operands[0] = p.value("z"); });
  gallery.show("an operand that does not exist",
               [](HandPlan& p) { surgeon(p).op(p.op("y")).operands[0] = ValueId(); });
  gallery.show("a result of another op",
               [](HandPlan& p) { surgeon(p).value(p.value("z")).producer = p.op("y"); });
  gallery.show("results with a gap",
               [](HandPlan& p) { surgeon(p).op(p.op("y")).firstResult = p.value("z"); });
  gallery.show("no result", [](HandPlan& p) { surgeon(p).op(p.op("y")).resultCount = 0; });
  gallery.show("a result too many", [](HandPlan& p) { surgeon(p).op(p.op("w@gpu0.next")).resultCount = 2; });
  gallery.show("a value of no op", [](HandPlan& p) {
    surgeon(p).addValue({f32({1}), p.op("z"), surgeon(p).name("orphan")});
  });
  gallery.show("a type that the rule does not give",
               [](HandPlan& p) { surgeon(p).value(p.value("z")).type = f64({256}); });
  gallery.show("operands that the rule refuses",
               [](HandPlan& p) { surgeon(p).value(p.value("x@gpu0")).type = f32({3}); });
  gallery.show("an assign to no parameter",
               [](HandPlan& p) { surgeon(p).op(p.op("w.next")).operands[0] = p.value("t"); });
  gallery.show("two assigns of one parameter",
               [](HandPlan& p) { surgeon(p).op(p.op("w@gpu0.next")).operands[0] = p.value("w"); });
  gallery.show("one name twice",
               [](HandPlan& p) { surgeon(p).value(p.value("z")).name = surgeon(p).name("y"); });
  gallery.show("no name", [](HandPlan& p) { surgeon(p).value(p.value("z")).name = StringId(0); });
  gallery.show("a fetch of nothing", [](HandPlan& p) { surgeon(p).fetches()[0].value = ValueId(99); });
  gallery.show("two fetches of one name",
               [](HandPlan& p) { surgeon(p).fetches()[1].name = surgeon(p).fetches()[0].name; });
  gallery.show("a fetch without a name", [](HandPlan& p) { surgeon(p).fetches()[1].name = StringId(0); });
}

TEST_CASE("verifyPlacement: each rule broken once") {
  const Machine machine = test::handMachine();
  GraphBuilder builder;
  ops::Input input;
  input.type = f32({2});
  const ValueId x = builder.result(builder.append(input, {}, {.name = "x"}));
  const ValueId y = builder.result(builder.append(ops::Exp{}, {x}, {.name = "y", .pin = "gpu*"}));
  builder.append(ops::Exp{}, {y}, {.name = "z", .pin = "gpu7"});
  const Graph graph = *std::move(builder).finish();
  Placement placement{graph, SideTable<OpId, DeviceId>(3, DeviceId(1)), "test"};
  CHECK(render(verifyPlacement(placement, machine)) ==
        "error: input 'x' is on gpu0, but feeds arrive on the host, cpu0\n"
        "  hint: place inputs on the host; transfers take them on\n"
        "error: op 'z' is pinned to 'gpu7', which no device of machine 'hand' matches\n"
        "  hint: devices: cpu0, gpu0\n");
  placement.device[OpId(0)] = DeviceId(0);
  placement.device[OpId(1)] = DeviceId(0);
  placement.device[OpId(2)] = DeviceId();
  CHECK(render(verifyPlacement(placement, machine)) ==
        "error: op 'y' is pinned to 'gpu*' but placed on cpu0\n"
        "error: op 'z' is on no device, which machine 'hand' does not have\n"
        "  hint: devices: cpu0, gpu0\n");
  placement.device.resize(1);
  CHECK(render(verifyPlacement(placement, machine)) == "error: 3 ops, but 1 have a device\n");
}

TEST_CASE("verifyPlacedGraph: each rule broken once") {
  Gallery gallery("placed_graph",
                  [](const HandPlan& plan) { return verifyPlacedGraph(plan.placed, plan.machine); });
  gallery.show("a transfer taken out",
               [](HandPlan& p) { surgeon(p).op(p.op("y")).operands[0] = p.value("x"); });
  gallery.show("an op on another device", [](HandPlan& p) { p.placed.device[p.op("t")] = DeviceId(1); });
  gallery.show("an op on no device", [](HandPlan& p) { p.placed.device[p.op("t")] = DeviceId(7); });
  gallery.show("a device too few", [](HandPlan& p) { p.placed.device.resize(3); });
  gallery.show("an input away from the host", [](HandPlan& p) { p.placed.device[p.op("x")] = DeviceId(1); });
  gallery.show("a transfer without a route", [](HandPlan& p) { p.placed.transfers.erase(p.op("z@cpu0")); });
  gallery.show("a transfer from elsewhere", [](HandPlan& p) { p.transfer("x@gpu0").from = DeviceId(1); });
  gallery.show("a transfer to no device", [](HandPlan& p) { p.transfer("x@gpu0").to = DeviceId(); });
  gallery.show("a transfer over other links", [](HandPlan& p) { p.transfer("x@gpu0").links = {LinkId(1)}; });
  gallery.show("a transfer of other bytes", [](HandPlan& p) { p.transfer("x@gpu0").bytes = 1020; });
  gallery.show("one value to one device twice",
               [](HandPlan& p) { surgeon(p).op(p.op("v@gpu0")).operands[0] = p.value("x"); });
  gallery.show("a route for no transfer",
               [](HandPlan& p) { p.placed.transfers[p.op("y")] = p.transfer("x@gpu0"); });
  gallery.show("a replica of no parameter",
               [](HandPlan& p) { p.placed.replicas[p.op("w@gpu0")] = p.op("y"); });
  gallery.show("a replica with another start",
               [](HandPlan& p) { surgeon(p).op(p.op("w@gpu0")).attributes.as<ops::Parameter>().seed = 3; });
  gallery.show("a replica of itself",
               [](HandPlan& p) { p.placed.replicas[p.op("w@gpu0")] = p.op("w@gpu0"); });
  gallery.show("a replica that is not refreshed", [](HandPlan& p) {
    surgeon(p).op(p.op("w@gpu0.next")) = OpRow(p.placed.graph[p.op("z")]);
    surgeon(p).op(p.op("w@gpu0.next")).firstResult = p.value("w@gpu0.next");
  });
  gallery.show("a replica that takes another value",
               [](HandPlan& p) { surgeon(p).op(p.op("w@gpu0.next")).operands[1] = p.value("x@gpu0"); });
  gallery.show("an ordering left out",
               [](HandPlan& p) { p.placed.orderings.erase(p.placed.orderings.begin()); });
  gallery.show("an ordering of a parameter", [](HandPlan& p) {
    p.placed.orderings.push_back({p.op("w"), p.op("y")});
  });
  gallery.show("an ordering of nothing", [](HandPlan& p) {
    p.placed.orderings.push_back({OpId(99), p.op("y")});
  });
  gallery.show("a cycle", [](HandPlan& p) { p.placed.orderings.push_back({p.op("v"), p.op("y")}); });
}

TEST_CASE("verifyPlacedGraph: an ordering that values imply may be left out") {
  HandPlan plan;
  plan.placed.orderings.pop_back(); // y -> z -> z@cpu0 -> v -> v@gpu0 -> w@gpu0.next
  CHECK(render(verifyPlacedGraph(plan.placed, plan.machine)) == "");
}

TEST_CASE("verifySchedule: each rule broken once") {
  Gallery gallery("schedule", verifyScheduleOf);
  gallery.show("two queues of one index", [](HandPlan& p) { p.schedule.queues[QueueId(1)].index = 0; });
  gallery.show("a queue of no device",
               [](HandPlan& p) { p.schedule.queues[QueueId(1)].device = DeviceId(5); });
  gallery.show("a compute queue too many", [](HandPlan& p) { p.schedule.queues[QueueId(3)].index = 1; });
  gallery.show("a step on no queue", [](HandPlan& p) { p.schedule.queues[QueueId(2)].steps.pop_back(); });
  gallery.show("a step on two queues",
               [](HandPlan& p) { p.schedule.queues[QueueId(1)].steps.push_back(StepId(2)); });
  gallery.show("a step that does not exist",
               [](HandPlan& p) { p.schedule.queues[QueueId(1)].steps.push_back(StepId(77)); });
  gallery.show("two steps swapped", [](HandPlan& p) {
    auto& steps = p.schedule.queues[QueueId(3)].steps;
    std::swap(steps[0], steps[1]);
    p.schedule.steps[steps[0]].position = 0;
    p.schedule.steps[steps[1]].position = 1;
  });
  gallery.show("an op without a step", [](HandPlan& p) { p.schedule.stepOf[p.op("y")] = StepId(); });
  gallery.show("a step of a parameter", [](HandPlan& p) { p.schedule.stepOf[p.op("w")] = StepId(0); });
  gallery.show("two steps of one op", [](HandPlan& p) { p.schedule.steps[StepId(4)].op = p.op("y"); });
  gallery.show("a step of no op", [](HandPlan& p) { p.schedule.steps[StepId(4)].op = OpId(); });
  gallery.show("ops too few", [](HandPlan& p) { p.schedule.stepOf.resize(4); });
  gallery.show("a transfer on a compute queue", [](HandPlan& p) {
    p.machine.devices[DeviceId(1)].computeQueues = 2;
    p.schedule.queues[QueueId(2)].kind = QueueKind::Compute;
    p.schedule.queues[QueueId(2)].index = 1;
  });
  gallery.show("a transfer on the copy queue of the wrong end",
               [](HandPlan& p) { p.schedule.queues[QueueId(4)].device = DeviceId(0); });
  gallery.show("an op on another device's queue", [](HandPlan& p) {
    p.schedule.queues[QueueId(1)] = {DeviceId(1), QueueKind::CopyOut, 3, {StepId(1)}};
  });
  gallery.show("a wait for a later step", [](HandPlan& p) { p.step("y").waits = {StepId(9)}; });
  gallery.show("a wait for nothing", [](HandPlan& p) { p.step("y").waits = {StepId()}; });
  gallery.show("a wait for the own queue", [](HandPlan& p) { p.step("z").waits = {StepId(3)}; });
  gallery.show("two waits for one queue", [](HandPlan& p) {
    p.step("w@gpu0.next").waits = {StepId(2), StepId(7)};
  });
  gallery.show("every wait left out", [](HandPlan& p) {
    for (const StepId step : p.schedule.steps.ids()) {
      p.schedule.steps[step].waits.clear();
    }
  });
  gallery.show("more than a whole device, and nothing of one", [](HandPlan& p) {
    p.step("y").utilisation = 1.5;
    p.step("z").utilisation = std::numeric_limits<double>::quiet_NaN();
  });
  gallery.show("slowed by more than it takes", [](HandPlan& p) {
    p.step("y").slowed = 2; // it takes 1 s
    p.step("z").slowed = -1;
  });
  gallery.show("another makespan", [](HandPlan& p) { p.schedule.makespan = 7; });
  gallery.show("bounds that the schedule disproves", [](HandPlan& p) {
    p.schedule.bounds = {9, -1, std::numeric_limits<double>::quiet_NaN()};
  });
  gallery.show("a start before the wait's end", [](HandPlan& p) { p.step("z@cpu0").start = 3.5; });
  gallery.show("an end before the start", [](HandPlan& p) { p.step("z").end = 2; });
  gallery.show("times that are no numbers", [](HandPlan& p) {
    p.step("t").start = std::numeric_limits<double>::quiet_NaN();
    p.step("t").end = std::numeric_limits<double>::quiet_NaN();
  });
  gallery.show("starts out of order", [](HandPlan& p) {
    p.step("t").start = 6.5;
    p.step("t").end = 7;
    p.step("w.next").start = p.step("w.next").end = 7;
  });
}

TEST_CASE("verifySchedule: every wait of the plan is needed") {
  for (const StepId step : HandPlan().schedule.steps.ids()) {
    HandPlan plan;
    if (!plan.schedule.steps[step].waits.empty()) {
      plan.schedule.steps[step].waits.clear();
      INFO(plan.placed.graph.nameOf(plan.schedule.steps[step].op));
      CHECK_FALSE(verifyScheduleOf(plan).empty());
    }
  }
}

TEST_CASE("verifyMemoryPlan: each rule broken once") {
  Gallery gallery("memory_plan", verifyMemoryOf);
  gallery.show("a broken schedule", [](HandPlan& p) { p.step("z").waits = {StepId(3)}; });
  gallery.show("a value too few", [](HandPlan& p) { p.memory.slots.resize(3); });
  gallery.show("a device too few", [](HandPlan& p) { p.memory.arenaBytes.resize(1); });
  gallery.show("more than the device has",
               [](HandPlan& p) { p.machine.devices[DeviceId(0)].memoryBytes = 4000; });
  gallery.show("impossible sizes", [](HandPlan& p) {
    p.memory.arenaBytes[DeviceId(1)] = -1;
    p.memory.residentBytes[DeviceId(0)] = 5000;
    p.memory.lowerBound[DeviceId(0)] = -256;
  });
  gallery.show("a value in another arena", [](HandPlan& p) { p.slot("y").device = DeviceId(0); });
  gallery.show("a value of other bytes", [](HandPlan& p) { p.slot("y").bytes = 1000; });
  gallery.show("an odd offset", [](HandPlan& p) { p.slot("y").offset = p.slot("z").offset = 2047; });
  gallery.show("beyond the arena", [](HandPlan& p) { p.slot("v").offset = 3328; });
  gallery.show("before the arena", [](HandPlan& p) { p.slot("v").offset = -256; });
  gallery.show("far beyond the arena",
               [](HandPlan& p) { p.slot("v").offset = std::numeric_limits<int64_t>::max() - 255; });
  gallery.show("a parameter among the rest",
               [](HandPlan& p) { p.slot("w").offset = p.slot("w.next").offset = 3072; });
  gallery.show("an assign elsewhere", [](HandPlan& p) { p.slot("w.next").offset = 1024; });
  gallery.show("over a parameter that is read later", [](HandPlan& p) { p.slot("x").offset = 0; });
  gallery.show("over a fetched value", [](HandPlan& p) { p.slot("v").offset = p.slot("t").offset; });
  gallery.show("over a value that another queue reads", [](HandPlan& p) { p.slot("t").offset = 1024; });
  gallery.show("two writes that nothing orders",
               [](HandPlan& p) { p.slot("x").offset = p.slot("t").offset; });
  gallery.show("partly over an operand", [](HandPlan& p) { p.slot("z").offset = 1792; });
  gallery.show("in place where an op may not", [](HandPlan& p) {
    auto& row = surgeon(p).op(p.op("z"));
    row.attributes = ops::CumSum{};
  });
}

TEST_CASE("verifyMemoryPlan: no value of a tight arena can move") {
  for (const ValueId value : HandPlan().placed.graph.values()) {
    if (HandPlan().memory.slots[value].device != DeviceId(0)) {
      continue;
    }
    for (const int64_t shift : {-1024, -512, -256, 256, 512, 1024}) {
      HandPlan plan;
      plan.memory.slots[value].offset += shift;
      INFO(plan.placed.graph.nameOf(value) << " by " << shift);
      CHECK_FALSE(verifyMemoryOf(plan).empty());
    }
  }
}

TEST_CASE("verifyMemoryPlan: an arena may be as large as its device, to the byte") {
  HandPlan plan;
  for (const DeviceId device : plan.machine.devices.ids()) {
    plan.machine.devices[device].memoryBytes = plan.memory.arenaBytes[device];
    CHECK(render(verifyMemoryOf(plan)) == "");
    if (plan.memory.arenaBytes[device] > 1) {
      --plan.machine.devices[device].memoryBytes;
      CHECK(render(verifyMemoryOf(plan)) != "");
    }
    plan.machine.devices[device].memoryBytes = 0;
  }
}

TEST_CASE("verifyMemoryPlan: offsets are multiples of the whole alignment, wherever else there is room") {
  int moved = 0;
  for (const ValueId value : HandPlan().placed.graph.values()) {
    HandPlan plan;
    Slot& slot = plan.memory.slots[value];
    int64_t& arena = plan.memory.arenaBytes[slot.device];
    slot.offset = alignUp(arena);
    arena = slot.offset + alignUp(slot.bytes) + arenaAlignment;
    if (!verifyMemoryOf(plan).empty()) {
      continue; // it has to stay where it is
    }
    ++moved;
    slot.offset += arenaAlignment / 4;
    CHECK(render(verifyMemoryOf(plan)) != "");
  }
  CHECK(moved > 0);
}

TEST_CASE("verifyMemoryPlan: the next value of a parameter may be made in its own place") {
  HandPlan plan;
  plan.slot("v").offset = 0;
  // t may still read the old w: only with a wait of v for t is that safe.
  CHECK(render(verifyMemoryOf(plan)) ==
        "error: 'w' [0, 1024) and 'v' [0, 1024) share bytes of cpu0: 't' may still "
        "read 'w' when 'v' is written\n");
  plan.step("v").waits.push_back(plan.schedule.stepOf[plan.op("t")]);
  CHECK(render(verifyMemoryOf(plan)) == "");
}

TEST_CASE("verifyMemoryPlan: an assigned value must not be overwritten before the assign") {
  HandPlan plan;
  // v@gpu0 in the parameter's place is a value made in place; z there would be lost to it, and y reads the
  // old one.
  plan.slot("v@gpu0").offset = 0;
  CHECK(render(verifyMemoryOf(plan)) == "");
  plan.slot("z").offset = 0; // in place over w@gpu0? relu reads y, not w@gpu0, and w@gpu0 is dead: allowed
  CHECK(render(verifyMemoryOf(plan)) == "");
  plan.slot("y").offset = 0; // mul reads w@gpu0 and may write over it
  CHECK(render(verifyMemoryOf(plan)) == "");
}

TEST_CASE("verifyMemoryPlan: a parameter that is never assigned keeps its bytes") {
  HandPlan plan;
  // Without the assign, w@gpu0.next is an ordinary relu of z, and w@gpu0 must hold its value for the next
  // step.
  surgeon(plan).op(plan.op("w@gpu0.next")).attributes = ops::Relu{};
  surgeon(plan).op(plan.op("w@gpu0.next")).operands = {plan.value("z")};
  CHECK(render(verifyMemoryOf(plan)) == "error: 'w@gpu0' [0, 1024) and 'w@gpu0.next' [0, 1024) share bytes "
                                        "of gpu0: 'w@gpu0' is needed after the step\n");
}

TEST_CASE("verifyMemoryPlan: a view is its operand's bytes, for its readers too") {
  HandPlan plan;
  ops::Reshape reshape;
  reshape.shape = {256};
  surgeon(plan).op(plan.op("z")).attributes = reshape;
  CHECK(render(verifyMemoryOf(plan)) == "");
  plan.slot("z").offset = 1024;
  CHECK(render(verifyMemoryOf(plan)) ==
        "error: 'z' is at offset 1024, but it is the same storage as 'y', which is at 2048\n");
  plan.slot("z").offset = 2048;
  plan.slot("v@gpu0").offset = 2048; // z@cpu0 reads y's bytes through z, before v: fine
  CHECK(render(verifyMemoryOf(plan)) == "");
}

TEST_CASE("seal: the first stage that is broken has the last word") {
  CHECK(HandPlan().seal().ok());
  HandPlan plan;
  plan.slot("y").offset = 0;
  plan.step("y").waits.clear();
  const Result<Executable> sealed = plan.seal();
  REQUIRE_FALSE(sealed.ok());
  CHECK(render(sealed.errors()) == "error: op 'y' on gpu0 compute is not sure to start after 'x@gpu0' on "
                                   "gpu0 copyIn, whose result it reads\n"
                                   "  hint: a wait between the two queues is missing\n");
}

TEST_CASE("verifyPlacedGraph: one replica a device") {
  Builder g;
  for (const char* name : {"w", "first", "second"}) {
    g.parameter(name, f32({4}), constantInit(2)).on(std::string_view(name) == "w" ? "cpu0" : "gpu0");
  }
  const Machine machine = test::smallMachine(1);
  PlacedGraph placed = test::placeByPins(*std::move(g).finish(), machine);
  const auto op = [&](const char* name) { return placed.graph[placed.graph.findValue(name)].producer; };
  placed.replicas[op("first")] = op("w");
  CHECK(render(verifyPlacedGraph(placed, machine)) == "");
  placed.replicas[op("second")] = op("w");
  const Diagnostics errors = verifyPlacedGraph(placed, machine);
  REQUIRE(errors.size() == 1);
  CHECK(errors[0].message == "parameter 'second', the replica of 'w', is not the only copy on gpu0");
}

TEST_CASE("verifyPlacedGraph: readers without an ordering of their own, of any number of parameters") {
  // Each product comes before its assign through the next value; `stray` reads one parameter and comes before
  // nothing.
  constexpr size_t parameters = 150;
  for (const size_t strayed : {size_t{0}, size_t{63}, size_t{64}, parameters - 1, parameters}) {
    INFO(strayed);
    Builder g;
    for (size_t i = 0; i < parameters; ++i) {
      const Tensor w = g.parameter("w" + std::to_string(i), f32({4}), constantInit(1));
      const Tensor product = w * 2.0;
      g.assign(w, product + 1.0);
      if (i == strayed) {
        g.fetch("stray", exp(w).named("stray"));
      }
    }
    const Machine machine = test::smallMachine(0);
    PlacedGraph placed = test::placeByPins(*std::move(g).finish(), machine);
    placed.orderings.clear();
    const Diagnostics errors = verifyPlacedGraph(placed, machine);
    REQUIRE(errors.size() == (strayed < parameters ? 1 : 0));
    if (strayed < parameters) {
      CHECK(errors[0].message.starts_with(
          fmt::format("op 'stray' reads the old value of 'w{}', but nothing orders it", strayed)));
    }
  }
}
