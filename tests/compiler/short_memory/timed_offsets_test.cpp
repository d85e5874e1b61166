// Offsets behind a run that counted bytes: buffers of overlapping lifetimes lie apart, and each reuse of
// bytes is listed.
#include "compiler/memory/reuse_orderings.h"
#include "compiler/memory/timed_offsets.h"
#include "tests/support/catch.h"

#include <random>

namespace dfc::test {
namespace {

struct TimedCase {
  ListProblem problem;
  LowPeakOrder lowPeak;
  std::vector<double> priority;
};

/// Tasks in two groups, each with a buffer that a few later tasks read.
TimedCase randomCase(uint32_t seed) {
  constexpr uint32_t tasks = 60;
  std::mt19937 random(seed);
  TimedCase made;
  made.problem.groupQueues = {1, 1};
  made.problem.tasks.resize(tasks);
  MemoryRequirements& requirements = made.lowPeak.requirements;
  requirements.tasks.resize(tasks);
  for (uint32_t task = 0; task < tasks; ++task) {
    made.problem.tasks[task].group = random() % 2;
    made.problem.tasks[task].seconds = static_cast<double>(random() % 4); // some take no time
    made.priority.push_back(static_cast<double>(random() % 100));
    made.lowPeak.order.push_back(task);
    const BufferId buffer =
        requirements.buffers.add({DeviceId(0), 256 * static_cast<int64_t>(1 + random() % 9), false, {}});
    requirements.buffers[buffer].users.push_back(task);
    requirements.tasks[task].allocates.push_back(buffer);
    requirements.tasks[task].uses.push_back(buffer);
    for (uint32_t read = 0; read < 2 && task > 0; ++read) {
      const uint32_t maker = task - 1 - random() % std::min<uint32_t>(task, 8);
      const BufferId operand = requirements.tasks[maker].allocates.front();
      if (requirements.buffers[operand].users.back() != task) {
        requirements.buffers[operand].users.push_back(task);
        requirements.tasks[task].uses.push_back(operand);
        made.problem.tasks[task].before.push_back(maker);
      }
    }
  }
  made.lowPeak.peak = SideTable<DeviceId, int64_t>(1, 0);
  return made;
}

/// The bytes of a run in the low-peak order.
int64_t peakOf(const LowPeakOrder& order) {
  int64_t now = 0, most = 0;
  for (const uint32_t task : order.order) {
    for (const BufferId buffer : order.requirements.tasks[task].allocates) {
      now += order.requirements.buffers[buffer].bytes;
    }
    most = std::max(most, now);
    for (const BufferId buffer : order.requirements.tasks[task].uses) {
      const BufferRow& row = order.requirements.buffers[buffer];
      now -= row.users.back() == task ? row.bytes : 0;
    }
  }
  return most;
}

} // namespace

TEST_CASE("timed offsets: buffers that live at once lie apart, and those that follow wait") {
  int reuses = 0;
  for (uint32_t seed = 0; seed < 20; ++seed) {
    INFO("seed " << seed);
    const TimedCase one = randomCase(seed);
    const SideTable<DeviceId, int64_t> counted(1, peakOf(one.lowPeak) * 5 / 4),
        available(1, int64_t{1} << 20);
    AdmissionControl admission(one.lowPeak, counted, std::nullopt);
    const auto times = listSchedule(one.problem, one.priority, admission);
    REQUIRE(times);
    const auto made = assignTimedOffsets(one.lowPeak, *times, available);
    REQUIRE(made);
    const auto orderings = reuseOrderings(made->reuses, one.lowPeak, one.problem, *times);
    for (const TaskOrdering& ordering : orderings) {
      CHECK(times->end[ordering.before] <= times->start[ordering.after]);
    }
    reuses += static_cast<int>(made->reuses.size());
    const auto& buffers = one.lowPeak.requirements.buffers;
    const auto beginOf = [&](BufferId buffer) { return times->start[buffers[buffer].users.front()]; };
    const auto endOf = [&](BufferId buffer) {
      double end = 0;
      for (const uint32_t user : buffers[buffer].users) {
        end = std::max(end, times->end[user]);
      }
      return end;
    };
    for (const BufferId a : buffers.ids()) {
      for (const BufferId b : buffers.ids()) {
        const bool isApart = made->offsets[a] + buffers[a].bytes <= made->offsets[b] ||
                             made->offsets[b] + buffers[b].bytes <= made->offsets[a];
        CHECK((a == b || isApart || endOf(a) <= beginOf(b) || endOf(b) <= beginOf(a)));
      }
    }
    CHECK_FALSE(assignTimedOffsets(one.lowPeak, *times, SideTable<DeviceId, int64_t>(1, 1024)));
  }
  CHECK(reuses > 0);
}

} // namespace dfc::test
