// Policies `auto` and `exact`. auto takes the shortest of all candidates, orders it anew by the list
// scheduler, and shortens it by local search; small graphs then go through branch and bound, as far as some
// steps reach. exact is the same without a limit on those steps.
#include "compiler/tasks/exact.h"
#include "compiler/tasks/local_search.h"
#include "compiler/tasks/placed_tasks.h"
#include "compiler/tasks/task_planning.h"

#include <algorithm>

namespace dfc {
namespace {

constexpr uint64_t exactStepsOfAuto = 2'000'000;
constexpr double worthReordering = 1.2; // times the makespan of the best

// Parts of the time after which candidates, trials of the three best, and all local search end.
constexpr double candidatesEnd = 0.4, trialsEnd = 0.6, searchEnd = 0.95;

uint64_t stepsFor(const TaskPlanning& planning) {
  if (planning.options.steps > 0) {
    return planning.options.steps;
  }
  constexpr uint64_t tasksTried = 100'000'000; // some ten seconds
  return std::clamp<uint64_t>(tasksTried / planning.graph.tasks.size(), 100, 40'000);
}

void offerCandidates(TaskPlanning& planning) {
  const auto offer = [&](TaskCandidate candidate) { planning.offer(std::move(candidate)); };
  const auto isLate = [&] { return planning.outOfTime(candidatesEnd); };
  singleCandidates(planning.graph, isLate, offer);
  listCandidates(planning.graph, isLate, offer);
  for (TaskCandidate candidate : std::vector(planning.best())) {
    const double makespan = candidate.schedule.makespan;
    if (planning.outOfTime(candidatesEnd) ||
        makespan > worthReordering * planning.best()[0].schedule.makespan) {
      break;
    }
    candidate.schedule = reordered(planning.graph, std::move(candidate.schedule));
    if (candidate.schedule.makespan < makespan) {
      candidate.name += ", list scheduler";
      orderByStart(candidate);
      planning.offer(std::move(candidate));
    }
  }
}

void search(TaskPlanning& planning, TaskCandidate start, uint64_t steps, double end) {
  SearchLimits limits{steps, planning.options.seed, planning.lowerBound * (1 + 1e-9),
                      [&planning, end] { return planning.outOfTime(end); }};
  const double before = start.schedule.makespan;
  TaskCandidate found = improved(planning.graph, start, limits);
  if (found.schedule.makespan < before) {
    if (!found.name.ends_with("local search")) {
      found.name += ", local search";
    }
    planning.offer(std::move(found));
  }
}

// From the best schedule so far, or from none.
void branchAndBound(TaskPlanning& planning, uint64_t steps) {
  TaskSchedule incumbent;
  incumbent.makespan = infiniteSeconds;
  if (!planning.best().empty()) {
    incumbent = planning.best()[0].schedule;
  }
  const double before = incumbent.makespan;
  ExactResult result = exactSchedule(
      planning.graph, std::move(incumbent), steps, [&] { return planning.outOfTime(1); },
      [&](const TaskSchedule& schedule) { return planning.fits(schedule); });
  if (result.schedule.makespan < before) {
    planning.offer({"exact", anyDevice, std::move(result.schedule), {}});
  }
  planning.proven = result.proven;
}

void searchLocally(TaskPlanning& planning) {
  const uint64_t steps = stepsFor(planning);
  const std::vector<TaskCandidate> starts = planning.best();
  for (size_t i = 0; i < starts.size(); ++i) {
    const double part = static_cast<double>(i + 1) / static_cast<double>(starts.size());
    search(planning, starts[i], steps / 10, candidatesEnd + part * (trialsEnd - candidatesEnd));
  }
  search(planning, planning.best()[0], steps * 7 / 10, searchEnd);
  TaskCandidate last = planning.best()[0];
  if (!planning.outOfTime(searchEnd)) {
    last.schedule = reordered(planning.graph, std::move(last.schedule));
    planning.offer(last);
  }
}

void offerBest(TaskPlanning& planning, bool branches, uint64_t exactSteps) {
  offerCandidates(planning);
  if (planning.meetsBound()) {
    return;
  }
  if (!planning.best().empty()) {
    searchLocally(planning);
  }
  if (branches && planning.graph.tasks.size() <= mostTasksForExact(planning.graph) &&
      !planning.meetsBound()) {
    branchAndBound(planning, exactSteps);
  }
}

} // namespace

void planByAuto(TaskPlanning& planning) {
  offerBest(planning, planning.options.branchAndBound, exactStepsOfAuto);
}

void planByExact(TaskPlanning& planning) { offerBest(planning, true, 0); }

} // namespace dfc
