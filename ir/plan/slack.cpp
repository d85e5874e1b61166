#include "ir/plan/slack.h"

#include <algorithm>

namespace dfc {

SideTable<StepId, double> slackOf(const TraceStep& step, const Schedule& schedule) {
  double last = 0;
  for (const StepId id : step.at.ids()) {
    last = std::max(last, step.at[id].end);
  }
  SideTable<StepId, double> latestEnd(schedule.steps.size(), last);
  for (uint32_t index = static_cast<uint32_t>(schedule.steps.size()); index-- > 0;) {
    const StepId id(index); // waits and queues only lead to smaller ids
    const StepRow& row = schedule.steps[id];
    const double latestBegin = latestEnd[id] - step.at[id].seconds();
    const auto endsBefore = [&](StepId before) {
      latestEnd[before] = std::min(latestEnd[before], latestBegin);
    };
    if (row.position > 0) {
      endsBefore(schedule.queues[row.queue].steps[row.position - 1]);
    }
    std::for_each(row.waits.begin(), row.waits.end(), endsBefore);
  }
  SideTable<StepId, double> slack(schedule.steps.size(), 0);
  for (const StepId id : step.at.ids()) {
    slack[id] = std::max(0.0, latestEnd[id] - step.at[id].end);
  }
  return slack;
}

} // namespace dfc
