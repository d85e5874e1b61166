// Task files and schedule files: the JSON forms that shared/check/score_schedule.py documents and validates,
// and the textbook form of shared/sched_examples ("processors", "comm", edges with "data").
#pragma once

#include "compiler/tasks/file/task_machine.h"
#include "compiler/tasks/task_schedule.h"
#include "ir/base/diagnostic.h"

#include <optional>
#include <string_view>

namespace dfc {

/// A task graph with the names that its schedule is written with.
struct TaskProblem {
  std::string name;
  TaskGraph graph;
  std::vector<std::string> tasks;       ///< by TaskId: the id as JSON writes it, "\"a\"" or "7"
  std::vector<std::string> devices;     ///< names
  std::vector<double> capacities;       ///< by device: bytes; infinite for no limit
  SideTable<ItemId, std::string> items; ///< the member that names the item: "\"tensor\":\"t\"" or "\"dst\":7"
};

/// Reads a machine file for tasks.
Result<TaskMachine> parseTaskMachine(std::string_view text, const std::string& file);

/// Reads a task file. `machine`: none to take the one that the file brings along. All errors at once, each by
/// its JSON path and, in files of up to 64 MB, by line and column: unknown or missing members, wrong types,
/// negative numbers, unknown tasks and devices, tasks that can run nowhere, cycles. Linear in the text.
Result<TaskProblem> parseTasks(std::string_view text, const std::string& file,
                               const std::optional<TaskMachine>& machine);

/// The facts about a schedule that its file holds beside it.
struct ScheduleFacts {
  double lowerBound = 0; ///< seconds
  std::string policy;
};
std::string printTaskSchedule(const TaskProblem& problem, const TaskSchedule& schedule,
                              const ScheduleFacts& facts);

} // namespace dfc
