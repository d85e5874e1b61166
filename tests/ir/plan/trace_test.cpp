// Traces: what is predicted, how much overlaps, and the JSON for Perfetto; names and bounds of schedules.
#include "ir/plan/trace.h"

#include "ir/graph/graph.h"
#include "tests/ir/plan/plan_fixture.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"

#include <nlohmann/json.hpp>

#include <set>

using namespace dfc;

namespace {

Executable sealed(const test::HandPlan& plan) {
  Result<Executable> executable = plan.seal();
  REQUIRE(executable.ok());
  return *std::move(executable);
}

} // namespace

TEST_CASE("schedule: names of queues and the best bound") {
  const test::HandPlan plan;
  CHECK(plan.schedule.nameOf(QueueId(0), plan.machine) == "cpu0 compute 0");
  CHECK(plan.schedule.nameOf(QueueId(1), plan.machine) == "cpu0 compute 1");
  CHECK(plan.schedule.nameOf(QueueId(2), plan.machine) == "gpu0 copyIn");
  CHECK(plan.schedule.nameOf(QueueId(4), plan.machine) == "gpu0 copyOut");
  CHECK(plan.schedule.bounds.best() == 8);
}

TEST_CASE("trace: the prediction is the schedule's own times") {
  const test::HandPlan plan;
  const Trace trace = predictedTrace(sealed(plan));
  CHECK(trace.origin == Trace::Origin::Predicted);
  REQUIRE(trace.spans.size() == 10);
  CHECK(trace.spans[9].step == StepId(9));
  CHECK(trace.spans[9].begin == 7);
  CHECK(trace.spans[9].end == 8);
  CHECK(trace.makespan() == 8);
  CHECK(Trace().makespan() == 0);
}

TEST_CASE("trace: overlap counts each second once") {
  test::HandPlan plan;
  const Executable executable = sealed(plan);
  // w.next [6, 7) is computed while v@gpu0 [6, 7) is copied; every other transfer runs alone
  CHECK(overlapSeconds(predictedTrace(executable), executable) == 1);
  const auto step = [&](std::string_view op) { return plan.schedule.stepOf[plan.op(op)]; };
  Trace trace;
  trace.spans = {{step("x@gpu0"), 0, 0, 4}, {step("z@cpu0"), 0, 2, 6},   // copies: [0, 6)
                 {step("y"), 0, 1, 2},      {step("z"), 0, 1.5, 3},      // computing: [1, 3)
                 {step("v"), 1, 5, 9},      {step("v@gpu0"), 1, 8, 8.5}, // [5, 9); copies [8, 8.5)
                 {step("x"), 1, 3, 5}};                                  // a feed is neither
  // [1, 3) + [5, 6) + [8, 8.5) = 3.5 s
  CHECK(overlapSeconds(trace, executable) == 3.5);
  CHECK(overlapSeconds(Trace(), executable) == 0);
}

TEST_CASE("trace: the Chrome form is JSON with a process a trace and a thread a queue") {
  test::HandPlan plan;
  const Executable executable = sealed(plan);
  const Trace predicted = predictedTrace(executable);
  Trace measured = predicted;
  measured.origin = Trace::Origin::Measured;
  measured.backends = {"cpu", "emulated"};
  const std::string text = chromeTrace({&predicted, &measured}, executable);
  test::checkGolden("trace/hand_plan.json", text);

  const auto json = nlohmann::json::parse(text);
  std::set<std::string> threads;
  size_t slices = 0;
  size_t begun = 0;
  size_t ended = 0;
  for (const auto& event : json["traceEvents"]) {
    const std::string phase = event["ph"];
    slices += phase == "X" ? 1 : 0;
    begun += phase == "s" ? 1 : 0;
    ended += phase == "f" ? 1 : 0;
    if (event["name"] == "thread_name") {
      threads.insert(std::to_string(event["pid"].get<int>()) + " " +
                     event["args"]["name"].get<std::string>());
    }
  }
  CHECK(threads.size() == 2 * 5);
  CHECK(slices == 2 * 10);
  CHECK(begun == 2 * 7); // the plan has seven waits
  CHECK(ended == begun);
}

TEST_CASE("trace: devices that were played by something else are said, in ranges") {
  Machine machine = test::HandPlan().machine; // cpu0, gpu0
  CHECK(standInText({}, machine).empty());
  CHECK(standInText({"cpu", ""}, machine).empty());
  CHECK(standInText({"cpu", "cuda"}, machine).empty());
  CHECK(standInText({"cpu", "emulated"}, machine) ==
        "gpu0 was emulated by the host: measured times there are not those of a GPU");
  for (const char* name : {"gpu1", "gpu2", "gpu3"}) {
    machine.devices[machine.devices.add(machine.devices[DeviceId(1)])].name = name;
  }
  CHECK(standInText({"null", "emulated", "emulated", "emulated", "cuda"}, machine) ==
        "gpu0 to gpu2 were emulated by the host: measured times there are not those of a GPU; "
        "cpu0 was run by backend 'null': measured times there are those of no computation");
  CHECK(
      standInText({"cpu", "emulated", "emulated", "", "emulated"}, machine).find("gpu0, gpu1, gpu3 were ") ==
      0);
}

TEST_CASE("trace: no trace at all is still JSON") {
  const Executable executable = sealed(test::HandPlan());
  CHECK(nlohmann::json::parse(chromeTrace({}, executable))["traceEvents"].empty());
}
