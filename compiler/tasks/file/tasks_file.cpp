#include "compiler/tasks/file/tasks_file.h"

#include "compiler/tasks/file/tasks_reader.h"
#include "ir/base/json/json_text.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>

namespace dfc {
namespace {

constexpr size_t tasksNesting = 16;
constexpr size_t largestLocated = size_t{64} << 20; // bytes of text; places take many times as much

// With line and column, which only a document in memory has.
Diagnostics located(std::vector<TasksFault> faults, std::string_view text, const std::string& file) {
  if (text.size() > largestLocated && !faults.empty()) { // broken syntax is found without building anything
    Diagnostics errors;
    for (const TasksFault& fault : faults) {
      const bool missing = fault.about == TasksFault::About::Missing;
      errors.push_back(
          {Severity::Error,
           {file},
           fmt::format("{}: {}", fault.path,
                       missing ? fmt::format("\"{}\" is missing", fault.message) : fault.message),
           fault.hint});
    }
    return errors;
  }
  JsonDocument document(text, file, tasksNesting);
  for (const TasksFault& fault : faults) {
    if (!document.readable() || document.complainedOf(fault.path)) {
      continue;
    }
    if (fault.about == TasksFault::About::Missing) {
      document.errorMissing(fault.path, fault.message, fault.hint);
    } else if (fault.about == TasksFault::About::Key) {
      document.errorAtKey(fault.path, fault.message, fault.hint);
    } else {
      document.errorAt(fault.path, fault.message, fault.hint);
    }
  }
  return document.takeErrors();
}

/// Turns rows into a task graph.
class ProblemMaker {
 public:
  ProblemMaker(RawTasks raw, const TaskMachine& machine) : raw_(std::move(raw)), machine_(machine) {}

  TaskProblem run() {
    problem_.name = raw_.name;
    for (const TaskMachine::Device& device : machine_.devices) {
      problem_.devices.push_back(device.name);
      problem_.capacities.push_back(device.bytes);
    }
    resolveEdges();
    if (faults.empty()) {
      sortRows();
    }
    if (faults.empty()) {
      addMachine(problem_.graph, machine_, meanBytes());
      addTasks();
      addEdges();
    }
    return std::move(problem_);
  }

  std::vector<TasksFault> faults;

 private:
  void resolveEdges() {
    for (size_t i = 0; i < raw_.edges.size(); ++i) {
      for (uint32_t* end : {&raw_.edges[i].from, &raw_.edges[i].to}) {
        const uint32_t name = *end;
        *end = raw_.rowOfName[name];
        if (*end == noIndex) {
          faults.push_back({TasksFault::About::Value,
                            fmt::format("edges[{}].{}", i, end == &raw_.edges[i].from ? "src" : "dst"),
                            fmt::format("no task has the id {}", raw_.textOfName[name]),
                            "the ids are those of \"tasks\"; 7 and \"7\" are different ones"});
        }
      }
    }
  }

  // Edges by their source, as a compressed sparse row; by source and then by their place in the file.
  void groupEdges(const std::vector<uint32_t>& sourceOf) {
    firstEdge_.assign(raw_.nameOfRow.size() + 1, 0);
    for (const uint32_t source : sourceOf) {
      ++firstEdge_[source + 1];
    }
    std::partial_sum(firstEdge_.begin(), firstEdge_.end(), firstEdge_.begin());
    edgeAt_.resize(raw_.edges.size());
    std::vector<uint32_t> next(firstEdge_.begin(), firstEdge_.end() - 1);
    for (uint32_t edge = 0; edge < sourceOf.size(); ++edge) {
      edgeAt_[next[sourceOf[edge]]++] = edge;
    }
  }

  // A topological order of the rows; of those that are free, the first in the file.
  void sortRows() {
    const size_t count = raw_.nameOfRow.size();
    std::vector<uint32_t> sourceOf, missing(count);
    sourceOf.reserve(raw_.edges.size());
    bool sorted = true;
    for (const RawEdge& edge : raw_.edges) {
      sourceOf.push_back(edge.from);
      ++missing[edge.to];
      sorted &= edge.from < edge.to;
    }
    groupEdges(sourceOf);
    taskOf_.assign(count, noIndex);
    rowOf_.reserve(count);
    if (sorted) {
      rowOf_.resize(count);
      std::iota(rowOf_.begin(), rowOf_.end(), 0U);
      taskOf_ = rowOf_;
      return;
    }
    std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> free;
    for (uint32_t row = 0; row < count; ++row) {
      if (missing[row] == 0) {
        free.push(row);
      }
    }
    while (!free.empty()) {
      const uint32_t row = free.top();
      free.pop();
      taskOf_[row] = static_cast<uint32_t>(rowOf_.size());
      rowOf_.push_back(row);
      for (uint32_t i = firstEdge_[row]; i < firstEdge_[row + 1]; ++i) {
        const uint32_t to = raw_.edges[edgeAt_[i]].to;
        if (--missing[to] == 0) {
          free.push(to);
        }
      }
    }
    if (rowOf_.size() < count) {
      complainOfCycle();
    }
  }

  // Each row that is left has an edge from another that is left: going back along them meets one again.
  void complainOfCycle() {
    std::vector<uint32_t> edgeInto(raw_.nameOfRow.size(), noIndex);
    for (uint32_t i = 0; i < raw_.edges.size(); ++i) {
      if (taskOf_[raw_.edges[i].from] == noIndex && taskOf_[raw_.edges[i].to] == noIndex) {
        edgeInto[raw_.edges[i].to] = i;
      }
    }
    const auto left = std::find(taskOf_.begin(), taskOf_.end(), noIndex) - taskOf_.begin();
    auto row = static_cast<uint32_t>(left);
    for (size_t step = 0; step < edgeInto.size(); ++step) { // long enough to be in the cycle
      row = edgeInto[row] == noIndex ? row : raw_.edges[edgeInto[row]].from;
    }
    std::string cycle = raw_.textOfName[raw_.nameOfRow[row]];
    uint32_t at = row;
    size_t length = 0;
    do {
      at = raw_.edges[edgeInto[at]].from;
      ++length;
      if (length <= 8 || at == row) {
        cycle = raw_.textOfName[raw_.nameOfRow[at]] + (length > 9 ? " -> ... -> " : " -> ") + cycle;
      }
    } while (at != row);
    faults.push_back({TasksFault::About::Value, fmt::format("edges[{}]", edgeInto[row]),
                      fmt::format("tasks wait for one another: {}", cycle), "remove an edge of the cycle"});
  }

  double meanBytes() const {
    double sum = 0;
    for (const RawEdge& edge : raw_.edges) {
      sum += edge.bytes;
    }
    return raw_.edges.empty() ? 0 : sum / static_cast<double>(raw_.edges.size());
  }

  void addTasks() {
    const size_t devices = machine_.devices.size();
    problem_.tasks.reserve(rowOf_.size());
    for (const uint32_t row : rowOf_) {
      TaskRow task;
      const double* seconds = &raw_.seconds[row * devices];
      task.seconds.assign(seconds, seconds + devices);
      problem_.graph.tasks.add(std::move(task));
      problem_.tasks.push_back(std::move(raw_.textOfName[raw_.nameOfRow[row]]));
    }
  }

  // The edges of one task with the same tensor carry one item, of one size. So do repeated edges without a
  // tensor to one task; this item is as large as the largest of them.
  void addEdges() {
    std::vector<LastItem> ofTensor(raw_.tensors.size()), ofTask(rowOf_.size());
    std::vector<std::string> names;
    TaskGraph& graph = problem_.graph;
    for (uint32_t source = 0; source < rowOf_.size(); ++source) {
      for (uint32_t i = firstEdge_[rowOf_[source]]; i < firstEdge_[rowOf_[source] + 1]; ++i) {
        const RawEdge& edge = raw_.edges[edgeAt_[i]];
        const uint32_t target = taskOf_[edge.to];
        auto& [last, item, first] = edge.tensor == noIndex ? ofTask[target] : ofTensor[edge.tensor];
        if (last != source) {
          last = source;
          item = graph.addItem(TaskId(source), edge.bytes);
          first = edgeAt_[i];
          names.push_back(edge.tensor == noIndex ? "\"dst\":" + problem_.tasks[target]
                                                 : "\"tensor\":" + raw_.tensors[edge.tensor]);
        } else if (edge.tensor == noIndex) {
          graph.items[item].bytes = std::max(graph.items[item].bytes, edge.bytes);
          continue; // a repeated edge
        } else if (graph.items[item].bytes != edge.bytes) {
          complainOfSizes(edgeAt_[i], first);
        }
        graph.addEdge(item, TaskId(target));
      }
    }
    problem_.items = SideTable<ItemId, std::string>(names.size());
    for (size_t i = 0; i < names.size(); ++i) {
      problem_.items[ItemId(static_cast<uint32_t>(i))] = std::move(names[i]);
    }
  }

  void complainOfSizes(uint32_t edge, uint32_t first) {
    if (faults.size() < mostTasksFaults) {
      faults.push_back({TasksFault::About::Value, fmt::format("edges[{}].bytes", edge),
                        fmt::format("tensor {} has {} bytes here and {} in edges[{}] of the same task",
                                    raw_.tensors[raw_.edges[edge].tensor], raw_.edges[edge].bytes,
                                    raw_.edges[first].bytes, first),
                        "a tensor has one size: write the same bytes, or give the two different names"});
    }
  }

  /// Of a tensor's name, or of a target: the source of its last item, the item, and the item's first edge.
  struct LastItem {
    uint32_t source = noIndex;
    ItemId item = {};
    uint32_t firstEdge = noIndex;
  };

  RawTasks raw_;
  const TaskMachine& machine_;
  TaskProblem problem_;
  std::vector<uint32_t> firstEdge_, edgeAt_; // by row
  std::vector<uint32_t> taskOf_, rowOf_;     // rows of the file and tasks
};

Result<TaskMachine> machineOf(std::string_view text, const std::string& file) {
  JsonDocument document(text, file, tasksNesting);
  if (!document.readable() || !document.clean()) {
    return document.takeErrors();
  }
  const bool isObject = document.root().is_object();
  TaskMachine machine;
  if (isObject && document.root().contains("machine")) {
    machine = taskMachineFrom(document, "machine");
  } else if (isObject && document.root().contains("processors")) {
    machine = textbookMachineFrom(document);
  } else {
    return Diagnostic{Severity::Error,
                      {file},
                      "the task file has no machine of its own",
                      "name a machine file: -m MACHINE.json"};
  }
  if (!document.clean()) {
    return document.takeErrors();
  }
  return machine;
}

} // namespace

Result<TaskMachine> parseTaskMachine(std::string_view text, const std::string& file) {
  JsonDocument document(text, file, tasksNesting);
  if (!document.readable()) {
    return document.takeErrors();
  }
  TaskMachine machine = taskMachineFrom(document, "");
  if (!document.clean()) {
    return document.takeErrors();
  }
  return machine;
}

Result<TaskProblem> parseTasks(std::string_view text, const std::string& file,
                               const std::optional<TaskMachine>& machine) {
  std::optional<TaskMachine> own;
  if (!machine) {
    Result<TaskMachine> found = machineOf(text, file);
    if (!found) {
      return found.errors();
    }
    own = *std::move(found);
  }
  const TaskMachine& used = machine ? *machine : *own;
  RawTasks raw = readRawTasks(text, used);
  if (!raw.readable || !raw.faults.empty()) {
    return located(std::move(raw.faults), text, file);
  }
  ProblemMaker maker(std::move(raw), used);
  TaskProblem problem = maker.run();
  if (!maker.faults.empty()) {
    return located(std::move(maker.faults), text, file);
  }
  return problem;
}

std::string printTaskSchedule(const TaskProblem& problem, const TaskSchedule& schedule,
                              const ScheduleFacts& facts) {
  std::string text;
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "{{\"policy\":{},\"makespan\":{},\"lowerBound\":{},\n\"tasks\":[",
                 jsonQuoted(facts.policy), jsonNumber(schedule.makespan), jsonNumber(facts.lowerBound));
  std::vector<std::string> devices;
  for (const std::string& device : problem.devices) {
    devices.push_back(jsonQuoted(device));
  }
  for (const TaskId task : problem.graph.tasks.ids()) {
    const TaskPlacement& placed = schedule.tasks[task];
    fmt::format_to(out, "{}\n{{\"id\":{},\"device\":{},\"start\":{},\"end\":{}}}",
                   task.index() == 0 ? "" : ",", problem.tasks[task.index()], devices[placed.device],
                   placed.start, placed.end);
  }
  text += "],\n\"transfers\":[";
  for (size_t i = 0; i < schedule.transfers.size(); ++i) {
    const TaskTransfer& transfer = schedule.transfers[i];
    const TaskHop& hop = problem.graph.hops[transfer.hop];
    const TaskId source = problem.graph.items[transfer.item].source;
    fmt::format_to(out, "{}\n{{\"src\":{},{},\"from\":{},\"to\":{},\"start\":{},\"end\":{}}}",
                   i == 0 ? "" : ",", problem.tasks[source.index()], problem.items[transfer.item],
                   devices[hop.from], devices[hop.to], transfer.start, transfer.end);
  }
  text += "]}\n";
  return text;
}

} // namespace dfc
