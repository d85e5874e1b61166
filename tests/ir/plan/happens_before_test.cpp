// HappensBefore against reachability by search over queue order and waits.
#include "ir/plan/happens_before.h"

#include "tests/ir/plan/plan_fixture.h"
#include "tests/support/catch.h"

#include <random>

using namespace dfc;

namespace {

/// Random steps on random queues with random waits for earlier steps of other queues.
Schedule randomSchedule(std::mt19937& chance) {
  const auto pick = [&](uint32_t low, uint32_t high) {
    return std::uniform_int_distribution<uint32_t>(low, high)(chance);
  };
  Schedule schedule;
  const uint32_t queues = pick(1, 5);
  for (uint32_t i = 0; i < queues; ++i) {
    schedule.queues.add({DeviceId(0), QueueKind::Compute, i, {}});
  }
  for (uint32_t i = pick(1, 30); i > 0; --i) {
    const QueueId queue(pick(0, queues - 1));
    auto& steps = schedule.queues[queue].steps;
    StepRow row{OpId(0), queue, static_cast<uint32_t>(steps.size()), {}, 0, 0};
    for (const StepId other : schedule.steps.ids()) {
      if (schedule.steps[other].queue != queue && pick(0, 5) == 0) {
        row.waits.push_back(other);
      }
    }
    steps.push_back(schedule.steps.add(row));
  }
  return schedule;
}

/// Every step that must have ended, by following waits and queue order backwards.
std::vector<bool> endedBefore(const Schedule& schedule, StepId step) {
  std::vector<bool> ended(schedule.steps.size(), false);
  std::vector<StepId> open = {step};
  while (!open.empty()) {
    const StepRow& row = schedule.steps[open.back()];
    open.pop_back();
    llvm::SmallVector<StepId, 4> sources(row.waits.begin(), row.waits.end());
    if (row.position > 0) {
      sources.push_back(schedule.queues[row.queue].steps[row.position - 1]);
    }
    for (const StepId source : sources) {
      if (!ended[source.index()]) {
        ended[source.index()] = true;
        open.push_back(source);
      }
    }
  }
  return ended;
}

} // namespace

TEST_CASE("happens before: agrees with a search over waits and queues") {
  std::mt19937 chance(99);
  for (int i = 0; i < 300; ++i) {
    const Schedule schedule = randomSchedule(chance);
    const HappensBefore before(schedule);
    for (const StepId b : schedule.steps.ids()) {
      const std::vector<bool> ended = endedBefore(schedule, b);
      for (const StepId a : schedule.steps.ids()) {
        INFO("plan " << i << ": " << a.index() << " before " << b.index());
        CHECK(before.ordered(a, b) == ended[a.index()]);
      }
    }
  }
}

TEST_CASE("happens before: chains over queues, and no order between branches") {
  test::HandPlan plan;
  const HappensBefore before(plan.schedule);
  const auto ordered = [&](std::string_view a, std::string_view b) {
    return before.ordered(plan.schedule.stepOf[plan.op(a)], plan.schedule.stepOf[plan.op(b)]);
  };
  CHECK(ordered("x", "w@gpu0.next")); // through four queues
  CHECK(ordered("t", "w.next"));      // by a wait
  CHECK_FALSE(ordered("t", "v"));     // times alone do not order
  CHECK_FALSE(ordered("w.next", "w@gpu0.next"));
  CHECK_FALSE(ordered("y", "y"));
  // x@gpu0 is the one step of copyIn that ends before y starts; v@gpu0 comes later
  CHECK(before.countBefore(plan.schedule.stepOf[plan.op("y")], QueueId(2)) == 1);
}
