#include "ir/plan/critical_path.h"

#include <algorithm>

namespace dfc {
namespace {

StepId lastToEnd(const TraceStep& step) {
  StepId last(0);
  for (const StepId id : step.at.ids()) {
    last = step.at[id].end > step.at[last].end ? id : last;
  }
  return last;
}

struct Predecessor {
  StepId step;
  PathSpan::After after = PathSpan::After::Nothing;
};

Predecessor latestBefore(StepId id, const TraceStep& step, const Schedule& schedule) {
  const StepRow& row = schedule.steps[id];
  Predecessor latest;
  if (row.position > 0) {
    latest = {schedule.queues[row.queue].steps[row.position - 1], PathSpan::After::Queue};
  }
  for (const StepId wait : row.waits) {
    if (!latest.step.valid() || step.at[wait].end > step.at[latest.step].end) {
      latest = {wait, PathSpan::After::Wait};
    }
  }
  return latest;
}

} // namespace

std::vector<PathSpan> criticalPath(const TraceStep& step, const Schedule& schedule) {
  std::vector<PathSpan> path;
  StepId at = step.at.empty() ? StepId() : lastToEnd(step);
  while (at.valid()) { // ends: waits and queues only lead to smaller ids
    const Predecessor before = latestBefore(at, step, schedule);
    const double ready = before.step.valid() ? step.at[before.step].end : 0;
    path.push_back({at, before.after, step.at[at].begin - ready});
    at = before.step;
  }
  std::reverse(path.begin(), path.end());
  return path;
}

} // namespace dfc
