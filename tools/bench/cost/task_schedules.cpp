// The cost of scheduling task graphs: time for large ones by HEFT, from the text of the task file to that of
// the schedule, and how much shorter `auto` is than HEFT over families of small ones.
#include "compiler/tasks/file/tasks_file.h"
#include "compiler/tasks/plan_tasks.h"
#include "runtime/steady_seconds.h"
#include "tools/bench/cost/costs.h"
#include "tools/bench/graphs/task_families.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace dfc::bench {
namespace {

Result<TaskProblem> problemOf(const TaskFamilyOptions& options, const std::string& text) {
  const auto machine = parseTaskMachine(taskMachineText(options.machine), "machine.json");
  if (!machine) {
    return machine.errors();
  }
  return parseTasks(text, "tasks.json", *machine);
}

Result<TaskPlan> planOf(const TaskProblem& problem, const std::string& policy, uint64_t steps = 0) {
  TaskPlanOptions options;
  options.policy = policy;
  options.steps = steps;
  return planTasks(problem.graph, options);
}

struct Timed {
  std::vector<double> read, plan, print;
};

Status timeOnce(const TaskFamilyOptions& options, const std::string& text, Timed& times, Row& row) {
  const double begin = steadySeconds();
  const auto problem = problemOf(options, text);
  if (!problem) {
    return problem.errors();
  }
  const double read = steadySeconds();
  const auto plan = planOf(*problem, "heft");
  if (!plan) {
    return plan.errors();
  }
  const double planned = steadySeconds();
  const size_t bytes = printTaskSchedule(*problem, plan->schedule, {plan->lowerBound, plan->policy}).size();
  times.read.push_back(read - begin);
  times.plan.push_back(planned - read);
  times.print.push_back(steadySeconds() - planned);
  row.notes = {fmt::format("makespan {:.4g} s, lower bound {:.4g} s, {} copies, {:.0f} MB of schedule",
                           plan->schedule.makespan, plan->lowerBound, plan->schedule.transfers.size(),
                           static_cast<double>(bytes) / 1e6)};
  return success();
}

void timeHeft(const Harness& harness, std::string_view machine, size_t tasks, double atMost) {
  const std::string key = fmt::format("tasks/heft/{}/{}", machine, tasks);
  if (!harness.wants(key)) {
    return;
  }
  harness.attempt(
      key, fmt::format("{} layered tasks on '{}' by HEFT", tasks, machine), [&](Row& row) -> Status {
        const TaskFamilyOptions options{"layered", machine, tasks, 1, 1};
        const std::string text = taskFamilyText(options);
        Timed times;
        for (uint32_t i = 0; i < harness.requested({tasks > 100'000 ? 3U : 7U, 1, 0}, {1, 1, 0}).samples;
             ++i) {
          if (const Status status = timeOnce(options, text, times, row); !status) {
            return status.errors();
          }
        }
        row.time = spreadOf(times.plan);
        row.notes.push_back(fmt::format("and {:.2f} s to read the file, {:.2f} s to print the schedule",
                                        spreadOf(times.read).median, spreadOf(times.print).median));
        row.checks.push_back({"seconds", row.time->median, harness.atFullSize(atMost), std::nullopt});
        return success();
      });
}

struct Compared {
  double logarithms = 0, longest = 0; ///< of auto over HEFT; over the shorter of HEFT and the best device
  int count = 0;
};

Status compareOne(const TaskFamilyOptions& options, uint64_t steps, Compared& sum) {
  const auto problem = problemOf(options, taskFamilyText(options));
  if (!problem) {
    return problem.errors();
  }
  const auto best = planOf(*problem, "auto", steps), heft = planOf(*problem, "heft");
  const auto single = planOf(*problem, "single");
  if (!best || !heft || !single) {
    return (!best ? best : !heft ? heft : single).errors();
  }
  const double makespan = best->schedule.makespan;
  sum.logarithms += std::log(makespan / heft->schedule.makespan);
  sum.longest =
      std::max(sum.longest, makespan / std::min(heft->schedule.makespan, single->schedule.makespan));
  ++sum.count;
  return success();
}

/// `ratio`: 0 for all three.
void compareAuto(const Harness& harness, double ratio, double atMost) {
  const std::string key = ratio == 0 ? "tasks/auto/all" : fmt::format("tasks/auto/ratio{}", ratio);
  if (!harness.wants(key)) {
    return;
  }
  const size_t tasks = harness.quick() ? 30 : 150;
  const uint64_t steps = harness.quick() ? 50 : 3000;
  const std::string what = fmt::format("auto over HEFT, {} tasks, communication to computation {}", tasks,
                                       ratio == 0 ? "0.1, 1, 10" : fmt::format("{}", ratio));
  harness.attempt(key, what, [&](Row& row) -> Status {
    Compared sum;
    const double begin = steadySeconds();
    for (const std::string_view family : taskFamilies()) {
      for (const std::string_view machine : {"pcie", "switch", "nvlink"}) {
        for (const double one : {0.1, 1.0, 10.0}) {
          if (ratio == 0 || ratio == one) {
            if (const Status status = compareOne({family, machine, tasks, one, 1}, steps, sum); !status) {
              return status.errors();
            }
          }
        }
      }
    }
    row.time = spreadOf({(steadySeconds() - begin) / sum.count});
    row.checks.push_back({"HEFT's makespan, geometric mean", std::exp(sum.logarithms / sum.count),
                          harness.atFullSize(atMost), std::nullopt});
    row.checks.push_back(
        {"the shorter of HEFT and one device, at most", sum.longest, 1 + 1e-9, std::nullopt});
    row.notes.push_back(fmt::format("{} graphs, {} steps of local search each", sum.count, steps));
    return success();
  });
}

} // namespace

void taskSchedules(Harness& harness, const BaselineOptions& /*baselines*/) {
  for (const std::string_view machine : {"ideal", "nvlink"}) {
    if (harness.quick()) {
      timeHeft(harness, machine, 2000, 1);
      continue;
    }
    timeHeft(harness, machine, 100'000, 1);
    timeHeft(harness, machine, 1'000'000, 12);
  }
  compareAuto(harness, 0, 0.94);
  for (const double ratio : {0.1, 1.0, 10.0}) {
    compareAuto(harness, ratio, ratio == 10 ? 0.85 : 1);
  }
}

} // namespace dfc::bench
