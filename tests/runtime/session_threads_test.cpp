// One session, many threads: each has its own results, steps follow one another, failures reach those whose
// steps failed. Run it under the tsan preset, too.
#include "ir/plan/executable_parts.h"
#include "tests/runtime/scripted_backend.h"
#include "tests/runtime/session_support.h"

#include <atomic>
#include <set>
#include <thread>

using namespace dfc;
using namespace dfc::test;

namespace {

constexpr int threadCount = 8, stepsEach = 40;

/// Calls `body(thread)` on many threads at once and waits for all of them.
void onThreads(const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < threadCount; ++i) {
    threads.emplace_back(body, i);
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

/// c = (x * x on gpu0) + x, on cpu0; w counts the steps and is fetched as it was before the step.
Graph countedSquares() {
  Builder g("counted squares");
  const Tensor x = g.input("x", f32({2}));
  const Tensor w = g.parameter("w", f32({1}), constantInit(0));
  g.fetch("c", ((x * x).named("square").on("gpu0") + x).named("c"));
  g.fetch("before", (w * 1).named("before"));
  g.assign(w, (w + 1).named("counted"));
  return finished(std::move(g));
}

NamedLiterals fed(float value) { return {{"x", floats({2}, {value, -value})}}; }

bool isOf(const Literal& c, float x) { return valuesOf(c) == Floats{x * x + x, x * x - x}; }

/// One step in one of three ways; gives the state that it saw, or -1 for wrong results.
int stepOf(Session& session, int thread, int step) {
  const auto x = static_cast<float>(thread * stepsEach + step);
  if (step % 3 == 0) {
    const auto results = session.run(fed(x));
    return isOf(results->at("c"), x) ? static_cast<int>(results->at("before").at(0)) : -1;
  }
  NamedLiterals feeds = fed(x);
  const auto pending = *session.submit(feeds);
  feeds.at("x").set(0, -1); // detaches
  if (step % 3 == 1) {
    const auto results = pending.wait();
    return isOf(results.at("c"), x) ? static_cast<int>(results.at("before").at(0)) : -1;
  }
  return isOf(*pending.wait("c"), x) ? static_cast<int>(pending.wait("before")->at(0)) : -1;
}

std::string failureIn(const std::function<void()>& action) {
  try {
    action();
  } catch (const MachineError& error) {
    return error.what();
  }
  return "";
}

} // namespace

TEST_CASE("session threads: each thread has its own results, and steps follow one another") {
  const auto session = opened(tinyPlan(countedSquares(), smallMachine(1)), {.maxInFlight = 3, .trace = true});
  std::vector<std::vector<int>> seen(threadCount);
  std::atomic<size_t> spans{0};
  onThreads([&](int thread) {
    for (int step = 0; step < stepsEach; ++step) {
      seen[static_cast<size_t>(thread)].push_back(stepOf(*session, thread, step));
      if (step % 10 == thread % 10) {
        session->waitAll();
        spans += session->takeTrace().spans.size();
      }
    }
  });
  std::set<int> all;
  for (const std::vector<int>& mine : seen) {
    CHECK(std::is_sorted(mine.begin(), mine.end())); // a thread's steps in the order of its calls
    all.insert(mine.begin(), mine.end());
  }
  CHECK(all.size() == threadCount * stepsEach); // no two steps saw the same state
  CHECK(*all.begin() == 0);
  CHECK(*all.rbegin() == threadCount * stepsEach - 1);
  CHECK(session->state().at("w").at(0) == threadCount * stepsEach);
  spans += session->takeTrace().spans.size();
  const auto plan = tinyPlan(countedSquares(), smallMachine(1));
  CHECK(spans == threadCount * stepsEach * plan->schedule().steps.size()); // none lost, none twice
}

TEST_CASE("session threads: state is read and set between steps, whole") {
  const auto session = opened(tinyPlan(countedSquares(), smallMachine(1)));
  std::atomic<int> wrong{0};
  onThreads([&](int thread) {
    for (int step = 0; step < stepsEach; ++step) {
      if (thread == 0) {
        wrong += session->setState({{"w", floats({1}, {1000})}}).ok() ? 0 : 1;
      } else if (thread == 1) {
        const double w = session->state().at("w").at(0);
        wrong += w == static_cast<int>(w) && w >= 0 && w < 2000 ? 0 : 1;
      } else {
        wrong += stepOf(*session, thread, step) >= 0 ? 0 : 1;
      }
    }
  });
  CHECK(wrong == 0);
}

TEST_CASE("session threads: a failure reaches the thread whose step failed, and each is told once") {
  ScriptedBackend gpu;
  std::atomic<int> runs{0}, failures{0};
  gpu.scripts["square"] = [&] {
    if (++runs % 5 == 0) {
      ++failures;
      throw MachineError("lost");
    }
  };
  const auto session =
      opened(tinyPlan(countedSquares(), smallMachine(1)), {.moreBackends = {&gpu}, .maxInFlight = 3});
  std::atomic<int> told{0}, strange{0}, done{0};
  onThreads([&](int /*thread*/) {
    for (int step = 0; step < stepsEach; ++step) {
      const std::string failure = failureIn([&] { done += session->run(fed(1)).ok() ? 1 : 0; });
      told += failure == "gpu0 compute, op 'square': lost" ? 1 : 0;
      strange += failure.empty() || failure.ends_with("gpu0 compute, op 'square': lost") ? 0 : 1;
      if (step % 10 == 0) {
        session->waitAll(); // all failures are waited for by their threads
      }
    }
  });
  CHECK(strange == 0);
  CHECK(failures > 0);
  CHECK(told == failures);
  CHECK(done == runs - failures);
}

TEST_CASE("session threads: a failure that nobody waited for is not told to another thread's submit") {
  ScriptedBackend gpu;
  std::atomic<bool> fails{true};
  gpu.scripts["square"] = [&] {
    if (fails.exchange(false)) {
      throw MachineError("lost");
    }
  };
  const auto session = opened(tinyPlan(countedSquares(), smallMachine(1)), {.moreBackends = {&gpu}});
  const auto pending = *session->submit(fed(1));
  while (!pending.done()) {
    std::this_thread::yield();
  }
  std::string failure = "not run";
  std::thread([&] { failure = failureIn([&] { (void)session->run(fed(2)); }); }).join();
  CHECK(failure.empty());
  CHECK(failureIn([&] { (void)session->submit(fed(3)); }) == "gpu0 compute, op 'square': lost");
  CHECK(failureIn([&] { pending.wait(); }) == "gpu0 compute, op 'square': lost");
}

TEST_CASE("session threads: a pending is waited for by many threads while its session is closed") {
  for (int round = 0; round < 20; ++round) {
    auto session = opened(tinyPlan(countedSquares(), smallMachine(1)));
    const auto pending = *session->submit(fed(3));
    std::atomic<int> right{0};
    onThreads([&](int thread) {
      if (thread == 0) {
        session.reset();
      } else {
        const bool byName = thread % 2 == 0;
        right += isOf(byName ? *pending.wait("c") : pending.wait().at("c"), 3) ? 1 : 0;
      }
    });
    CHECK(right == threadCount - 1);
  }
}

TEST_CASE("session threads: sessions of several threads share an executable") {
  const auto plan = tinyPlan(countedSquares(), smallMachine(1));
  std::atomic<int> wrong{0};
  onThreads([&](int thread) {
    const auto session = opened(plan);
    for (int step = 0; step < 6; ++step) {
      wrong += stepOf(*session, thread, step) == step ? 0 : 1;
    }
  });
  CHECK(wrong == 0);
}
