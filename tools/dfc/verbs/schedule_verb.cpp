// `dfc schedule`: a schedule of any task graph, by the planner that places tensors.
#include "compiler/tasks/file/tasks_file.h"
#include "compiler/tasks/plan_tasks.h"
#include "ir/base/atomic_file.h"
#include "tools/dfc/io/output_files.h"
#include "tools/dfc/machine_files.h"
#include "tools/dfc/verbs.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <cmath>

namespace dfc::tool {
namespace {

constexpr uint64_t largestTasksFile = uint64_t{16} << 30;

struct ScheduleArguments {
  std::string tasks, machine, output;
  TaskPlanOptions options;
  double planSeconds = 2;
};

constexpr const char* scheduleExamples = R"(Examples:
  dfc schedule samples/04_graph_file/tasks.json -m cpu-2gpu -o schedule.json    # the shortest found in 2 s
  dfc schedule samples/04_graph_file/tasks.json -m cpu-2gpu --policy=heft       # the schedule on stdout
  dfc schedule samples/04_graph_file/tasks.json -m cpu-2gpu --policy=exact --plan-time 10 --json
Task file: {"tasks": [{"id": "a", "dur": {"gpu": 0.5, "cpu0": 2}}, {"id": "b", "dur": {"gpu": 1}, "pin": "gpu1"}],
            "edges": [{"src": "a", "dst": "b", "bytes": 1e6, "tensor": "x"}]}
Durations are by device or class, or an array in the order of the devices; a task cannot run where it has
none, or null. Edges of one task with the same "tensor" are one copy for each device. The machine is a machine file of
dfc; its classes may have any name, and a device needs neither memory nor rates. With "implicit_comm": true no link is
contended and the schedule lists no copies. Times are in seconds, or in any unit that latencies and bandwidths share.)";

Result<std::optional<TaskMachine>> machineOf(const std::string& word) {
  if (word.empty() || word == "-") {
    return std::optional<TaskMachine>();
  }
  const std::string path = machinePath(word);
  const Result<std::string> text = readTextFile(path, largestTasksFile);
  if (!text) {
    return text.errors();
  }
  Result<TaskMachine> machine = parseTaskMachine(*text, path);
  if (!machine) {
    return machine.errors();
  }
  return std::optional(*std::move(machine));
}

Result<TaskProblem> problemOf(const ScheduleArguments& arguments) {
  const auto machine = machineOf(arguments.machine);
  if (!machine) {
    return machine.errors();
  }
  const Result<std::string> text = readTextFile(arguments.tasks, largestTasksFile);
  if (!text) {
    return text.errors();
  }
  return parseTasks(*text, arguments.tasks, *machine);
}

std::string winner(const TaskPlan& plan, const TaskProblem& problem) {
  return plan.device == TaskPlan::noPlanDevice
             ? plan.policy
             : fmt::format("{} on {}", plan.policy, problem.devices[plan.device]);
}

std::string boundText(const ScheduleArguments& arguments, const TaskPlan& plan) {
  const double makespan = plan.schedule.makespan;
  if (plan.proven || makespan <= plan.lowerBound) {
    return ": no schedule is shorter";
  }
  return fmt::format(", ratio {:.4g}{}", plan.lowerBound > 0 ? makespan / plan.lowerBound : 1.0,
                     arguments.options.policy == "exact" ? "; not proven within --plan-time" : "");
}

std::string summaryText(const ScheduleArguments& arguments, const TaskProblem& problem,
                        const TaskPlan& plan) {
  return fmt::format("{} tasks on {} devices, policy {}: {}\nmakespan {}\nlower bound {}{}\n",
                     problem.graph.tasks.size(), problem.graph.deviceCount(), arguments.options.policy,
                     winner(plan, problem), plan.schedule.makespan, plan.lowerBound,
                     boundText(arguments, plan));
}

nlohmann::ordered_json summaryJson(const ScheduleArguments& arguments, const TaskProblem& problem,
                                   const TaskPlan& plan) {
  return {{"tasks", problem.graph.tasks.size()},
          {"devices", problem.graph.deviceCount()},
          {"policy", arguments.options.policy},
          {"winner", winner(plan, problem)},
          {"makespan", plan.schedule.makespan},
          {"lowerBound", plan.lowerBound},
          {"optimal", plan.proven}};
}

Exit scheduleVerb(ScheduleArguments& arguments, Console& console) {
  if (!std::isfinite(arguments.planSeconds) || arguments.planSeconds < 0) {
    return console.fail(Exit::UserError, {errorWithoutPlace("--plan-time must be 0 or more seconds",
                                                            "write 0 or more seconds: --plan-time 10")});
  }
  OutputFiles files;
  files.reads(arguments.tasks);
  files.reads(arguments.machine);
  files.writes("-o", arguments.output, {".json"});
  if (const Diagnostics errors = files.check(); !errors.empty()) {
    return console.fail(Exit::UserError, errors);
  }
  const Result<TaskProblem> problem = problemOf(arguments);
  if (!problem) {
    return console.fail(Exit::UserError, problem.errors());
  }
  const TaskProblem& tasks = problem.orThrow();
  arguments.options.capacities = tasks.capacities;
  arguments.options.outOfTime = [begin = std::chrono::steady_clock::now(),
                                 limit = arguments.planSeconds](double part) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() >= part * limit;
  };
  const Result<TaskPlan> planned = planTasks(tasks.graph, arguments.options);
  if (!planned) {
    Diagnostics errors = planned.errors();
    const bool ofTasks = llvm::any_of(taskPolicies(), [&](const TaskPolicyRow& row) {
      return row.name == arguments.options.policy; // else the option is wrong, not the file
    });
    for (Diagnostic& error : errors) {
      error.where.file = ofTasks ? arguments.tasks : error.where.file;
    }
    return console.fail(Exit::UserError, errors);
  }
  const TaskPlan& plan = planned.orThrow();
  const std::string schedule =
      printTaskSchedule(tasks, plan.schedule, {plan.lowerBound, winner(plan, tasks)});
  nlohmann::ordered_json object = summaryJson(arguments, tasks, plan);
  if (!arguments.output.empty()) {
    if (const Status written = writeFileAtomically(arguments.output, schedule); !written) {
      return console.fail(Exit::MachineFailure, written.errors());
    }
    console.print(summaryText(arguments, tasks, plan) + fmt::format("wrote {}\n", arguments.output));
  } else {
    console.print(schedule);
    if (console.json()) {
      object["schedule"] = nlohmann::ordered_json::parse(schedule);
    }
  }
  return console.finish(object.dump());
}

} // namespace

void addSchedule(CLI::App& program, Verbs& verbs) {
  auto arguments = std::make_shared<ScheduleArguments>();
  CLI::App* verb =
      program.add_subcommand("schedule", "Schedule a graph of tasks, given by durations and bytes");
  std::string policies;
  for (const TaskPolicyRow& row : taskPolicies()) {
    policies += fmt::format("{}{}: {}", policies.empty() ? "" : "; ", row.name, row.what);
  }
  verb->add_option("TASKS", arguments->tasks, "task file (JSON)")->required();
  verb->add_option("-m,--machine", arguments->machine,
                   "machine file, or name of a shipped one; without it (or as -) the task file's own machine")
      ->type_name("FILE.json");
  verb->add_option("--policy", arguments->options.policy, policies)->capture_default_str();
  verb->add_option("--plan-time", arguments->planSeconds,
                   "seconds after which auto and exact end with the shortest schedule so far")
      ->type_name("SECONDS")
      ->capture_default_str();
  verb->add_option("--steps", arguments->options.steps,
                   "trial schedules of local search; the same number and seed give the same schedule unless "
                   "--plan-time ends it before; 0: by the number of tasks")
      ->capture_default_str();
  verb->add_option("--seed", arguments->options.seed, "of local search")->capture_default_str();
  verb->add_option("-o,--output", arguments->output, "write the schedule here; without it, to stdout")
      ->type_name("FILE.json");
  verb->footer(scheduleExamples);
  verbs[verb] = [arguments](Console& console) { return scheduleVerb(*arguments, console); };
}

} // namespace dfc::tool
