#include "ir/plan/step_order.h"

#include <llvm/ADT/STLExtras.h>

#include <functional>
#include <queue>

namespace dfc {
namespace {

template <class Action>
void forEachBefore(const Schedule& schedule, const StepWaits& waits, StepId step, const Action& action) {
  const StepId before = previousOf(schedule, step);
  if (before.valid()) {
    action(before);
  }
  llvm::for_each(waits[step], action);
}

} // namespace

StepId previousOf(const Schedule& schedule, StepId step) {
  const StepRow& row = schedule.steps[step];
  return row.position > 0 ? schedule.queues[row.queue].steps[row.position - 1] : StepId();
}

SideTable<StepId, bool> awaitedSteps(size_t steps,
                                     llvm::function_ref<llvm::ArrayRef<StepId>(StepId)> waitsOf) {
  SideTable<StepId, bool> awaited(steps);
  for (const StepId step : awaited.ids()) {
    for (const StepId wait : waitsOf(step)) {
      awaited[wait] = true;
    }
  }
  return awaited;
}

std::vector<StepId> orderOf(const Schedule& schedule, const StepWaits& waits) {
  SideTable<StepId, uint32_t> missing(waits.size());
  SideTable<StepId, StepList> after(waits.size());
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> ready;
  for (const StepId step : waits.ids()) {
    forEachBefore(schedule, waits, step, [&](StepId before) {
      ++missing[step];
      after[before].push_back(step);
    });
    if (missing[step] == 0) {
      ready.push(step.index());
    }
  }
  std::vector<StepId> order;
  while (!ready.empty()) {
    order.emplace_back(ready.top());
    ready.pop();
    for (const StepId next : after[order.back()]) {
      if (--missing[next] == 0) {
        ready.push(next.index());
      }
    }
  }
  return order;
}

SideTable<StepId, bool> cyclesOf(const Schedule& schedule, const StepWaits& waits,
                                 llvm::ArrayRef<StepId> order) {
  SideTable<StepId, bool> stuck(waits.size(), true);
  for (const StepId step : order) {
    stuck[step] = false;
  }
  SideTable<StepId, uint32_t> after(waits.size());
  std::vector<StepId> ends;
  for (const StepId step : waits.ids()) {
    forEachBefore(schedule, waits, step, [&](StepId before) { after[before] += stuck[step] ? 1 : 0; });
  }
  for (const StepId step : waits.ids()) {
    if (stuck[step] && after[step] == 0) {
      ends.push_back(step);
    }
  }
  while (!ends.empty()) {
    const StepId end = ends.back();
    ends.pop_back();
    stuck[end] = false;
    forEachBefore(schedule, waits, end, [&](StepId before) {
      if (--after[before] == 0 && stuck[before]) {
        ends.push_back(before);
      }
    });
  }
  return stuck;
}

} // namespace dfc
