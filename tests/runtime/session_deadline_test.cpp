// Limits of time of steps in flight, and where a step that failed or is late ends: between two calls, though
// no wait lies there.
#include "tests/runtime/scripted_backend.h"
#include "tests/runtime/session_support.h"

#include <atomic>
#include <thread>

using namespace dfc;
using namespace dfc::test;

namespace {

using Milliseconds = std::chrono::milliseconds;

/// first = x * x, second = first + first, both on gpu0 and with no wait between; elsewhere = x + x on gpu1.
Graph twoCalls() {
  Builder g("two calls");
  const Tensor x = g.input("x", f32({2}));
  const Tensor first = (x * x).named("first").on("gpu0");
  g.fetch("second", (first + first).named("second").on("gpu0"));
  g.fetch("elsewhere", (x + x).named("elsewhere").on("gpu1"));
  return finished(std::move(g));
}

const NamedLiterals twoValues{{"x", floats({2}, {1, 2})}};

std::string failureOfWait(const Session::Pending& pending) {
  try {
    pending.wait();
  } catch (const MachineError& error) {
    return error.what();
  }
  return "no failure";
}

void awaitFlag(const std::atomic<bool>& flag) {
  while (!flag) {
    std::this_thread::sleep_for(Milliseconds(1));
  }
}

} // namespace

TEST_CASE("session deadlines: the time of a step in flight begins when the step before has ended") {
  ScriptedBackend gpu;
  gpu.scripts["first"] = [] { std::this_thread::sleep_for(Milliseconds(300)); };
  const auto session = opened(tinyPlan(twoCalls(), smallMachine(2)),
                              {.moreBackends = {&gpu}, .maxInFlight = 5, .timeoutSeconds = 1});
  std::vector<Session::Pending> pending;
  for (int i = 0; i < 5; ++i) { // the last ends 5 * 0.3 s after its submission, 0.3 s after the one before
    pending.push_back(*session->submit(twoValues));
  }
  CHECK(failureOfWait(pending.back()) == "no failure");
}

TEST_CASE("session deadlines: queues know the limit of the step behind one that was waited for") {
  ScriptedBackend gpu;
  std::atomic<bool> waited{false};
  std::atomic<int> firsts{0}, seconds{0};
  gpu.scripts["first"] = [&] {
    if (firsts++ == 1) { // of the second step: its time begins when somebody sees the end of the first
      awaitFlag(waited);
      std::this_thread::sleep_for(Milliseconds(1300));
    }
  };
  gpu.scripts["second"] = [&] { ++seconds; };
  const auto session = opened(tinyPlan(twoCalls(), smallMachine(2)),
                              {.moreBackends = {&gpu}, .maxInFlight = 2, .timeoutSeconds = 1});
  const auto step0 = *session->submit(twoValues);
  const auto step1 = *session->submit(twoValues);
  CHECK(failureOfWait(step0) == "no failure");
  waited = true;
  while (!step1.done()) { // looks, and does not wait: only the queue itself can see that time is over
    std::this_thread::sleep_for(Milliseconds(1));
  }
  CHECK(seconds == 1); // of the first step alone
  CHECK(failureOfWait(step1).starts_with("step 1 took longer than its limit of 1 s; "));
}

TEST_CASE("session deadlines: a late step ends between two calls without a wait between them") {
  for (const bool traced : {false, true}) {
    ScriptedBackend gpu;
    std::atomic<int> seconds{0};
    gpu.scripts["first"] = [] { std::this_thread::sleep_for(Milliseconds(1300)); };
    gpu.scripts["second"] = [&] { ++seconds; };
    const auto session = opened(tinyPlan(twoCalls(), smallMachine(2)),
                                {.moreBackends = {&gpu}, .trace = traced, .timeoutSeconds = 1});
    CHECK(failureOfWait(*session->submit(twoValues)).starts_with("step 0 took longer"));
    CHECK(seconds == 0);
  }
}

TEST_CASE("session deadlines: a failed step ends on other queues between two calls of a region") {
  for (const bool traced : {false, true}) {
    ScriptedBackend gpu;
    std::atomic<bool> begun{false}, failing{false};
    std::atomic<int> seconds{0};
    gpu.scripts["first"] = [&] {
      begun = true;
      awaitFlag(failing);
      std::this_thread::sleep_for(Milliseconds(500)); // the failure is known long before
    };
    gpu.scripts["elsewhere"] = [&] {
      awaitFlag(begun);
      failing = true;
      throw MachineError("lost");
    };
    gpu.scripts["second"] = [&] { ++seconds; };
    const auto session =
        opened(tinyPlan(twoCalls(), smallMachine(2)), {.moreBackends = {&gpu}, .trace = traced});
    CHECK(failureOfWait(*session->submit(twoValues)) == "gpu1 compute, op 'elsewhere': lost");
    CHECK(seconds == 0);
  }
}
