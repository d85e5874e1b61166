// The pool runs every part once, passes exceptions on, and serves several callers.
#include "runtime/cpu/thread_pool.h"

#include "runtime/available_processors.h"
#include "tests/support/catch.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <stdexcept>
#include <thread>

namespace dfc {

TEST_CASE("processors that a thread may not run on do not count") {
  const uint32_t all = availableProcessors();
  CHECK(all >= 1);
  CHECK(all <= std::max(1U, std::thread::hardware_concurrency()));
  uint32_t few = 0;
  std::thread([&] {
    cpu_set_t one;
    REQUIRE(sched_getaffinity(0, sizeof one, &one) == 0);
    for (int cpu = 0, kept = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &one) && kept++ > 0) {
        CPU_CLR(cpu, &one);
      }
    }
    REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0); // of this thread
    few = availableProcessors();
  }).join();
  CHECK(few == 1);
}

TEST_CASE("a pool runs each part exactly once") {
  for (const uint32_t threads : {1U, 2U, 5U}) {
    ThreadPool pool(threads);
    CHECK(pool.threads() == threads);
    for (const uint32_t parts : {0U, 1U, 2U, 64U}) {
      std::vector<std::atomic<int>> runs(parts);
      pool.run(parts, [&](uint32_t part) { ++runs[part]; });
      for (const std::atomic<int>& count : runs) {
        CHECK(count == 1);
      }
    }
  }
}

TEST_CASE("a pool passes a part's exception on and works afterwards") {
  ThreadPool pool(3);
  const auto failing = [](uint32_t part) {
    if (part == 2) {
      throw std::runtime_error("part 2");
    }
  };
  CHECK_THROWS_WITH(pool.run(8, failing), "part 2");
  std::atomic<int> runs = 0;
  pool.run(8, [&](uint32_t) { ++runs; });
  CHECK(runs == 8);
}

TEST_CASE("several callers may use a pool at once") {
  ThreadPool pool(3);
  std::atomic<int> runs = 0;
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        pool.run(3, [&](uint32_t) { ++runs; });
      }
    });
  }
  for (std::thread& caller : callers) {
    caller.join();
  }
  CHECK(runs == 4 * 200 * 3);
}

TEST_CASE("a pool's jobs come in every rhythm: at once, while threads spin, after they fell asleep") {
  for (const bool spins : {true, false}) {
    ThreadPool pool(4, spins);
    std::vector<int> runs(16);
    for (int job = 0; job < 3000; ++job) {
      const auto parts = static_cast<uint32_t>(2 + job % 15);
      pool.run(parts, [&](uint32_t part) { ++runs[part]; }); // no part is anybody else's
      if (job % 300 == 299) {
        std::this_thread::sleep_for(std::chrono::milliseconds(job % 900 == 899 ? 12 : 1));
      }
    }
    CHECK(std::accumulate(runs.begin(), runs.end(), 0) ==
          3000 * 9); // parts are 2 to 16 in turn: 9 on average
  }
}

TEST_CASE("tasks are dealt to parts in order and evenly") {
  for (const int64_t tasks : {0, 1, 7, 100}) {
    for (const uint32_t parts : {1U, 3U, 8U}) {
      int64_t next = 0;
      for (uint32_t part = 0; part < parts; ++part) {
        const TaskRange range = tasksOfPart(tasks, parts, part);
        CHECK(range.begin == next);
        CHECK(range.end - range.begin <= tasks / parts + 1);
        next = range.end;
      }
      CHECK(next == tasks);
    }
  }
  ThreadPool pool(4);
  CHECK(partCount(pool, 100, 0) == 1);   // no work is worth waking a thread
  CHECK(partCount(pool, 100, 1e9) == 8); // no more parts than two a thread
  CHECK(partCount(pool, 2, 1e9) == 2);   // nor than tasks
}

} // namespace dfc
