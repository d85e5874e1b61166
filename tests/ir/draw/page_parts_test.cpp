// Slack: by how much a step of a plan may end later.
#include "ir/plan/slack.h"
#include "tests/support/catch.h"

using namespace dfc;

namespace {

/// A queue of two steps of 1 s and 2 s, and another with one of 1 s that the second waits for.
Schedule threeSteps() {
  Schedule schedule;
  const QueueId first = schedule.queues.add({}), second = schedule.queues.add({});
  const auto add = [&](QueueId queue, double start, double end, llvm::SmallVector<StepId, 2> waits) {
    StepRow row;
    row.queue = queue;
    row.position = static_cast<uint32_t>(schedule.queues[queue].steps.size());
    row.waits = std::move(waits);
    row.start = start;
    row.end = end;
    schedule.queues[queue].steps.push_back(schedule.steps.add(row));
    return schedule.queues[queue].steps.back();
  };
  const StepId other = add(second, 0, 1, {});
  add(first, 0, 2, {});
  add(first, 2, 3, {other});
  return schedule;
}

} // namespace

TEST_CASE("slack: what ends early may end later, until its queue or a waiting step would be late") {
  const Schedule schedule = threeSteps();
  TraceStep step{0, SideTable<StepId, Interval>(3), 3};
  for (const StepId id : schedule.steps.ids()) {
    step.at[id] = {schedule.steps[id].start, schedule.steps[id].end};
  }
  const auto slack = slackOf(step, schedule);
  CHECK(slack[StepId(0)] == 1); // ends at 1, is waited for at 2
  CHECK(slack[StepId(1)] == 0);
  CHECK(slack[StepId(2)] == 0);
}
