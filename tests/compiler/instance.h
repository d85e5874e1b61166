// Reads the scheduling instances of shared/sched_examples (its README describes the form): textbook task
// graphs for the placement code and small graphs over contended links for the list scheduler.
#pragma once

#include "compiler/schedule/list_schedule.h"
#include "compiler/tasks/task_graph.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace dfc::test {

struct ExpectedTask {
  uint32_t device = 0;
  double start = 0, end = 0;
};

struct ClassicInstance {
  TaskGraph graph;
  std::vector<int> idOfTask;      ///< the file's task number, by TaskId
  std::vector<double> rank;       ///< expected upward ranks, by TaskId
  std::vector<ExpectedTask> heft; ///< expected schedule, by TaskId
  double heftLength = 0, optimal = 0;
};

ClassicInstance readClassic(const std::filesystem::path& file);

/// A contention instance with the placement of its optimal schedule: tasks and transfers as a list-scheduling
/// problem.
struct ContentionInstance {
  ListProblem problem;
  double optimal = 0;
};
ContentionInstance readContention(const std::filesystem::path& file);

std::vector<std::filesystem::path> instanceFiles(const std::filesystem::path& folder,
                                                 const std::string& prefix);

} // namespace dfc::test
