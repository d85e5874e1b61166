// Sessions when things go wrong, and when they take their time: failures, cancellation, limits, in-flight
// steps. A scripted gpu blocks and fails on command, so nothing here depends on timing.
#include "tests/runtime/scripted_backend.h"
#include "tests/runtime/session_support.h"

#include <atomic>
#include <thread>
#include <tuple>

using namespace dfc;
using namespace dfc::test;

namespace {

/// Opens once and stays open.
class Gate {
 public:
  void pass() const { opened_.wait(); }
  void open() { promise_.set_value(); }

 private:
  std::promise<void> promise_;
  std::shared_future<void> opened_{promise_.get_future()};
};

/// early = x + x on cpu0; slow = x * x on gpu0; late = slow + early on cpu0; other = slow * slow on gpu1.
Graph work() {
  Builder g("work");
  const Tensor x = g.input("x", f32({2}));
  const Tensor early = (x + x).named("early");
  const Tensor slow = (x * x).named("slow").on("gpu0");
  g.fetch("early", early);
  g.fetch("late", (slow + early).named("late"));
  g.fetch("other", (slow * slow).named("other").on("gpu1"));
  return finished(std::move(g));
}

const NamedLiterals feeds{{"x", floats({2}, {1, 2})}};

std::string failureOf(const std::function<void()>& action) {
  try {
    action();
  } catch (const MachineError& error) {
    return error.what();
  }
  return "no failure";
}

} // namespace

TEST_CASE("session failure: a failing kernel ends the step everywhere, named; the next step runs") {
  ScriptedBackend gpu;
  bool fails = true;
  gpu.scripts["slow"] = [&] {
    if (fails) {
      throw MachineError("the fan stopped");
    }
  };
  const auto session = opened(tinyPlan(work(), smallMachine(2)), {.moreBackends = {&gpu}});
  CHECK(failureOf([&] { (void)session->run(feeds); }) == "gpu0 compute, op 'slow': the fan stopped");
  CHECK(failureOf([&] { (void)session->run(feeds); }) == "gpu0 compute, op 'slow': the fan stopped");
  fails = false;
  const auto results = session->run(feeds);
  REQUIRE(results.ok());
  CHECK(valuesOf(results->at("early")) == Floats{2, 4});
}

TEST_CASE("session failure: a queue that cannot be prepared leaves none open, in any group") {
  for (const std::string unprepared : {"early", "slow", "other"}) { // on cpu0, gpu0 and gpu1
    INFO(unprepared);
    ScriptedBackend gpu, cpu;
    cpu.kind = DeviceKind::Cpu;
    gpu.unprepared = cpu.unprepared = unprepared;
    const auto plan = tinyPlan(work(), smallMachine(2));
    const SessionOptions options{.moreBackends = {&gpu, &cpu}}; // loaded in this order
    CHECK(failureOf([&] { (void)Session::open(plan, options); }) == "no kernel for " + unprepared);
    CHECK(gpu.openQueues == 0);
    CHECK(cpu.openQueues == 0);
    gpu.unprepared = cpu.unprepared = "";
    CHECK(opened(plan, options)->run(feeds).ok());
  }
}

TEST_CASE("session failure: exceptions of any kind are told as the machine's") {
  ScriptedBackend gpu;
  gpu.scripts["slow"] = [] { throw std::bad_alloc(); };
  gpu.scripts["slow@gpu1"] = [] {};
  const auto session = opened(tinyPlan(work(), smallMachine(2)), {.moreBackends = {&gpu}});
  CHECK(failureOf([&] { (void)session->run(feeds); }) ==
        "gpu0 compute, op 'slow': the host is out of memory");
}

TEST_CASE("session failure: our own bug stays an InternalError") {
  ScriptedBackend gpu;
  gpu.scripts["slow"] = [] { DFC_UNREACHABLE("a scripted bug"); };
  const auto session = opened(tinyPlan(work(), smallMachine(2)), {.moreBackends = {&gpu}});
  CHECK_THROWS_AS(session->run(feeds), InternalError);
}

TEST_CASE("session failure: steps behind a failed one are not run and say so") {
  ScriptedBackend gpu;
  Gate gate;
  std::atomic<int> runs{0};
  gpu.scripts["slow"] = [&] {
    if (runs++ == 0) {
      gate.pass();
      throw MachineError("lost");
    }
  };
  const auto session = opened(tinyPlan(work(), smallMachine(2)), {.moreBackends = {&gpu}});
  const auto first = *session->submit(feeds);
  const auto second = *session->submit(feeds);
  CHECK_FALSE(first.done());
  gate.open();
  CHECK(failureOf([&] { second.wait(); }) ==
        "step 1 was not run, because step 0 failed: gpu0 compute, op 'slow': lost");
  CHECK(failureOf([&] { first.wait(); }) == "gpu0 compute, op 'slow': lost");
  CHECK(runs == 1);
  CHECK(session->run(feeds).ok());
  CHECK(runs == 2);
}

TEST_CASE("session failure: a failure that nobody waited for is thrown by the next call that waits") {
  ScriptedBackend gpu;
  std::atomic<bool> fails{true};
  gpu.scripts["slow"] = [&] {
    if (fails.exchange(false)) {
      throw MachineError("lost");
    }
  };
  const auto session = opened(tinyPlan(work(), smallMachine(2)), {.moreBackends = {&gpu}});
  REQUIRE(session->submit(feeds).ok());
  CHECK(failureOf([&] { session->waitAll(); }) == "gpu0 compute, op 'slow': lost");
  session->waitAll();
  CHECK(session->run(feeds).ok());
}

TEST_CASE("session failure: a step over its time limit is given up, and says what was under way") {
  ScriptedBackend gpu;
  Gate gate;
  std::atomic<int> runs{0};
  gpu.scripts["slow"] = [&] {
    if (runs++ == 0) {
      gate.pass();
    }
  };
  const auto session = opened(tinyPlan(work(), smallMachine(2)),
                              {.moreBackends = {&gpu}, .timeoutSeconds = 1}); // a busy host begins it by then
  const auto pending = *session->submit(feeds);
  std::thread opener([&] { // a kernel under way is waited for, so the gate opens well after the limit
    std::this_thread::sleep_for(std::chrono::milliseconds(1300));
    gate.open();
  });
  CHECK(failureOf([&] { pending.wait(); }) ==
        "step 0 took longer than its limit of 1 s; under way were: "
        "op 'slow' on gpu0 compute; raise the time limit (--timeout), or "
        "look for what holds the step up");
  opener.join();
}

TEST_CASE("session failure: a step that ended too late has failed, though nobody looked in time") {
  ScriptedBackend gpu;
  gpu.scripts["slow"] = [] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
  const auto session =
      opened(tinyPlan(work(), smallMachine(2)), {.moreBackends = {&gpu}, .timeoutSeconds = 0.001});
  const auto pending = *session->submit(feeds);
  while (!pending.done()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  CHECK(failureOf([&] { pending.wait(); }).starts_with("step 0 took longer than its limit of 0.001 s; "));
}

TEST_CASE("session failure: a limit that is over before the step begins runs no command of it") {
  ScriptedBackend gpu;
  std::atomic<int> runs{0};
  gpu.scripts["slow"] = [&] { ++runs; };
  const auto session =
      opened(tinyPlan(work(), smallMachine(2)), {.moreBackends = {&gpu}, .timeoutSeconds = 1e-9});
  CHECK(failureOf([&] {
          session->run(feeds).ok();
        }).starts_with("step 0 took longer than its limit of 1e-09 s; "));
  CHECK(runs == 0);
}

TEST_CASE("session in flight: one value is read while the rest of its step still runs") {
  ScriptedBackend gpu;
  Gate gate;
  gpu.scripts["slow"] = [&] { gate.pass(); };
  const auto session = opened(tinyPlan(work(), smallMachine(2)), {.moreBackends = {&gpu}});
  const auto pending = *session->submit(feeds);
  CHECK(valuesOf(*pending.wait("early")) == Floats{2, 4});
  CHECK_FALSE(pending.done());
  gate.open();
  CHECK(pending.wait().size() == 3);
  CHECK(pending.done());
}

TEST_CASE("session in flight: results may be prepared while the step that writes them runs") {
  ScriptedBackend gpu;
  Gate gate;
  gpu.scripts["slow"] = [&] { gate.pass(); };
  const auto session = opened(tinyPlan(work(), smallMachine(2)), {.moreBackends = {&gpu}});
  const std::byte* early = nullptr;
  NamedLiterals results;
  REQUIRE(session->run(feeds, [&](NamedLiterals unwritten) { // the gate: the step runs
    CHECK(unwritten.size() == 3);
    early = unwritten.at("early").bytes().data();
    results = std::move(unwritten);
    gate.open();
  }));
  CHECK(results.at("early").bytes().data() == early);
  CHECK(results.at("early").mutableBytes().data() == early); // nobody else shares it any more
  CHECK(valuesOf(results.at("early")) == Floats{2, 4});
  CHECK_FALSE(
      session->run({}, [](const NamedLiterals& /*unwritten*/) { FAIL("no step was launched"); }).ok());
}

TEST_CASE("session in flight: what fails while a step runs is thrown when the step has ended") {
  ScriptedBackend gpu;
  Gate gate;
  bool ended = false;
  gpu.scripts["slow"] = [&] {
    gate.pass();
    ended = true;
  };
  const auto session = opened(tinyPlan(work(), smallMachine(2)), {.moreBackends = {&gpu}});
  CHECK(failureOf([&] {
          std::ignore = session->run(feeds, [&](const NamedLiterals& /*unwritten*/) {
            gate.open();
            throw MachineError("no room for an array");
          });
        }) == "no room for an array");
  CHECK(ended);
  gpu.scripts["slow"] = [] { throw MachineError("lost"); };
  CHECK(failureOf([&] {
          std::ignore = session->run(
              feeds, [](const NamedLiterals& /*unwritten*/) { throw MachineError("no room for an array"); });
        }).find("lost") != std::string::npos); // the step's failure goes before
}

TEST_CASE("session in flight: submit blocks when maxInFlight steps are under way") {
  ScriptedBackend gpu;
  std::atomic<int> begun{0}, submitted{0};
  Gate gate;
  gpu.scripts["slow"] = [&] {
    ++begun;
    gate.pass();
  };
  const auto session = opened(tinyPlan(work(), smallMachine(2)), {.moreBackends = {&gpu}, .maxInFlight = 2});
  std::thread author([&] {
    for (int i = 0; i < 5; ++i) {
      submitted += session->submit(feeds).ok() ? 1 : 0;
    }
    session->waitAll();
  });
  while (begun < 1 || submitted < 2) {
    std::this_thread::yield();
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  CHECK(submitted == 2); // the third waits for the first, which waits for the gate
  CHECK(begun == 1);     // and the second for the first to end
  gate.open();
  author.join();
  CHECK(submitted == 5);
  CHECK(begun == 5);
}

TEST_CASE("session in flight: closing a session waits for its steps, and their results stay") {
  ScriptedBackend gpu;
  Gate gate;
  gpu.scripts["slow"] = [&] { gate.pass(); };
  auto session = opened(tinyPlan(work(), smallMachine(2)), {.moreBackends = {&gpu}});
  const auto pending = *session->submit(feeds);
  std::thread closer([&] { session.reset(); });
  gate.open();
  closer.join();
  CHECK(pending.done());
  CHECK(valuesOf(pending.wait().at("early")) == Floats{2, 4});
  CHECK(valuesOf(*pending.wait("early")) == Floats{2, 4});
}

TEST_CASE("session backends: wrong names, wrong kinds, missing kernels and missing devices") {
  const auto plan = tinyPlan(work(), smallMachine(2));
  CHECK(messagesOf(Session::open(plan, {.gpuBackend = "emulatd"}).errors()) ==
        Strings{"there is no backend named 'emulatd' | did you mean 'emulated'?"});
  CHECK(messagesOf(Session::open(plan, {.cpuBackend = "emulated"}).errors()) ==
        Strings{"backend 'emulated' cannot play a cpu | backends for a cpu: cpu, null"});
  ScriptedBackend gpu;
  gpu.available = false;
  CHECK(failureOf([&] { (void)Session::open(plan, {.gpuBackend = "scripted", .moreBackends = {&gpu}}); }) ==
        "gpu0: the backend 'scripted' has no device here: nobody plays today; leave the choice of a backend "
        "away, and one that has a device plays it");
  CHECK((*Session::open(plan, {.moreBackends = {&gpu}}))->deviceReport() ==
        Strings{"cpu0: cpu", "gpu0: emulated", "gpu1: emulated"});
  gpu.available = true;
  Builder g("no kernel");
  const Tensor x = g.input("x", f32({2}));
  g.fetch("y", tanh(x).named("y").on("gpu0"));
  CHECK(messagesOf(Session::open(tinyPlan(finished(std::move(g)), smallMachine(2)), {.moreBackends = {&gpu}})
                       .errors()) == Strings{"the backend 'scripted' of gpu0 has no kernel for tanh 'y' | "
                                             "place the op on another device, or cast its "
                                             "operands to a type that has one"});
}

TEST_CASE("session failure: one value of a failed step is refused, also when all its queues have ended") {
  ScriptedBackend gpu;
  gpu.scripts["slow"] = [] { throw MachineError("the fan stopped"); };
  const auto session = opened(tinyPlan(work(), smallMachine(2)), {.moreBackends = {&gpu}});
  const auto pending = *session->submit(feeds);
  while (!pending.done()) { // a queue that gives its step up counts all commands of it as ended
    std::this_thread::yield();
  }
  CHECK(failureOf([&] { (void)pending.wait("late"); }) == "gpu0 compute, op 'slow': the fan stopped");
}
