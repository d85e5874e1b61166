#include "compiler/tasks/placed_tasks.h"

#include "compiler/schedule/priorities.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace dfc {
namespace {

class PlacedTasksMaker {
 public:
  PlacedTasksMaker(const TaskGraph& graph, const TaskSchedule& schedule)
      : graph_(graph), schedule_(schedule) {
    made_.list.groupQueues.assign(graph.queues.begin(), graph.queues.end());
    made_.list.linkSlots = graph.linkSlots;
    firstCopyGroup_ = static_cast<uint32_t>(graph.queues.size());
    addCopyGroups();
    if (!graph.begins.empty()) {
      made_.list.groupBegins.assign(graph.begins.begin(), graph.begins.end());
      made_.list.groupBegins.resize(made_.list.groupQueues.size());
    }
    for (uint32_t i = 0; i < schedule.transfers.size(); ++i) {
      const TaskTransfer& transfer = schedule.transfers[i];
      transferTo_[{transfer.item.index(), graph.hops[transfer.hop].to}] = i;
    }
  }

  PlacedTasks run() {
    listIndex_.resize(graph_.tasks.size());
    for (const TaskId task : graph_.tasks.ids()) {
      ListTask row;
      row.group = deviceOf(task);
      row.seconds = graph_.tasks[task].seconds[row.group];
      for (const TaskEdge& edge : graph_.tasks[task].predecessors) {
        const uint32_t before = itemOn(edge.item, row.group);
        if (!llvm::is_contained(row.before, before)) {
          row.before.push_back(before);
        }
      }
      listIndex_[task.index()] = add(std::move(row), task, {});
    }
    return std::move(made_);
  }

 private:
  // A group a hop, as wide as its narrowest link; without limited links, and for implied copies, as wide as
  // needed.
  void addCopyGroups() {
    const auto unlimited = static_cast<uint32_t>(std::max<size_t>(schedule_.transfers.size(), 1));
    for (const TaskHop& hop : graph_.hops) {
      uint32_t queues = unlimited;
      for (const uint32_t link : hop.links) {
        queues = std::min(queues, graph_.linkSlots[link]);
      }
      made_.list.groupQueues.push_back(queues);
    }
    if (!graph_.hasExplicitCopies()) {
      made_.list.groupQueues.push_back(static_cast<uint32_t>(graph_.items.size() + 1) *
                                       static_cast<uint32_t>(graph_.deviceCount()));
    }
  }

  uint32_t deviceOf(TaskId task) const { return schedule_.tasks[task].device; }

  uint32_t add(ListTask row, TaskId task, const TaskTransfer& transfer) {
    made_.list.tasks.push_back(std::move(row));
    made_.taskOf.push_back(task);
    made_.transfer.push_back(transfer);
    return static_cast<uint32_t>(made_.list.tasks.size() - 1);
  }

  // An implied copy that takes no time. As a task of the list it would end after the queues have chosen their
  // next tasks.
  bool isFree(ItemId item, uint32_t from, uint32_t to) const {
    return !graph_.hasExplicitCopies() && graph_.transferSeconds(from, to, graph_.items[item].bytes) == 0;
  }

  // The list task after which the item is on the device.
  uint32_t itemOn(ItemId item, uint32_t device) {
    const TaskId source = graph_.items[item].source;
    if (deviceOf(source) == device || isFree(item, deviceOf(source), device)) {
      return listIndex_[source.index()];
    }
    const std::pair key(item.index(), device);
    if (const auto known = copies_.find(key); known != copies_.end()) {
      return known->second;
    }
    ListTask row;
    TaskTransfer transfer;
    if (graph_.hasExplicitCopies()) {
      transfer = schedule_.transfers[transferTo_.lookup(key)];
      const TaskHop& hop = graph_.hops[transfer.hop];
      row.before.push_back(itemOn(item, hop.from));
      row.group = firstCopyGroup_ + transfer.hop;
      row.links.assign(hop.links.begin(), hop.links.end());
      row.seconds = hop.cost.seconds(graph_.items[item].bytes);
    } else {
      row.before.push_back(listIndex_[source.index()]);
      row.group = firstCopyGroup_;
      row.seconds = graph_.transferSeconds(deviceOf(source), device, graph_.items[item].bytes);
    }
    const uint32_t copy = add(std::move(row), {}, transfer);
    copies_[key] = copy;
    return copy;
  }

  const TaskGraph& graph_;
  const TaskSchedule& schedule_;
  PlacedTasks made_;
  uint32_t firstCopyGroup_ = 0;
  std::vector<uint32_t> listIndex_;                                             // by task
  llvm::DenseMap<std::pair<uint32_t, uint32_t>, uint32_t> transferTo_, copies_; // by item and device
};

// The list tasks by their start in the schedule, the first highest.
std::vector<double> earlierFirst(const PlacedTasks& placed, const TaskSchedule& schedule) {
  std::vector<double> priority(placed.taskOf.size());
  for (size_t i = 0; i < priority.size(); ++i) {
    priority[i] =
        placed.taskOf[i].valid() ? -schedule.tasks[placed.taskOf[i]].start : -placed.transfer[i].start;
  }
  return priority;
}

// Depth first: of the tasks that other devices wait for, the one nearest to the end of all; then the rest,
// the longest way to the end first. In a pipeline these are backward passes, forward passes, gradients of
// weights.
std::vector<double> depthFirst(const ListProblem& problem) {
  const auto count = static_cast<uint32_t>(problem.tasks.size());
  const Successors after(problem);
  std::vector<double> toEnd(count, 0), priority(count, 0);
  std::vector<char> isAwaited(count, 0);
  for (uint32_t i = count; i-- > 0;) {
    for (const uint32_t next : after[i]) {
      toEnd[i] = std::max(toEnd[i], toEnd[next]);
      isAwaited[i] |=
          static_cast<char>(isAwaited[next] || problem.tasks[next].group != problem.tasks[i].group);
    }
    toEnd[i] += problem.tasks[i].seconds;
  }
  const double all = count > 0 ? *std::max_element(toEnd.begin(), toEnd.end()) : 0;
  for (uint32_t i = 0; i < count; ++i) {
    priority[i] = isAwaited[i] ? 2 * all - toEnd[i] : toEnd[i] - all;
  }
  return priority;
}

/// Passes of forward-backward improvement; most schedules stay as they are after two.
constexpr int mostJustifications = 6;

// Forward-backward improvement from a list schedule of `placed`: the shortest schedule on the way.
TaskSchedule justified(const TaskGraph& graph, const PlacedTasks& placed, ListResult from,
                       TaskSchedule schedule) {
  for (int i = 0; i < mostJustifications; ++i) {
    const std::vector<double> before = from.end;
    from = listSchedule(placed.list, justifiedRanks(placed.list, before));
    if (from.end == before) {
      break;
    }
    TaskSchedule next = scheduleOf(graph, placed, from);
    if (next.makespan < schedule.makespan) {
      schedule = std::move(next);
    }
  }
  return schedule;
}

} // namespace

PlacedTasks placedTasks(const TaskGraph& graph, const TaskSchedule& schedule) {
  return PlacedTasksMaker(graph, schedule).run();
}

TaskSchedule scheduleOf(const TaskGraph& graph, const PlacedTasks& placed, const ListResult& result) {
  TaskSchedule schedule;
  schedule.tasks = SideTable<TaskId, TaskPlacement>(graph.tasks.size());
  for (const uint32_t i : result.order) {
    const double start = result.start[i], end = result.end[i];
    if (placed.taskOf[i].valid()) {
      schedule.tasks[placed.taskOf[i]] = {placed.list.tasks[i].group, start, end};
      schedule.makespan = std::max(schedule.makespan, end);
    } else if (graph.hasExplicitCopies()) {
      schedule.transfers.push_back({placed.transfer[i].item, placed.transfer[i].hop, start, end});
    }
  }
  return schedule;
}

TaskSchedule reordered(const TaskGraph& graph, TaskSchedule schedule) {
  if (!std::isfinite(schedule.makespan)) {
    return schedule;
  }
  const PlacedTasks placed = placedTasks(graph, schedule);
  std::vector<std::vector<double>> priorities{earlierFirst(placed, schedule), depthFirst(placed.list)};
  for (const PriorityRow& row : allPriorities()) {
    if (std::vector<double> ranks = row.ranks(placed.list); !ranks.empty()) {
      priorities.push_back(std::move(ranks));
    }
  }
  std::optional<ListResult> shortest;
  for (const std::vector<double>& priority : priorities) {
    ListResult result = listSchedule(placed.list, priority);
    TaskSchedule next = scheduleOf(graph, placed, result);
    if (next.makespan < schedule.makespan) {
      schedule = std::move(next);
    }
    if (!shortest || result.makespan < shortest->makespan) {
      shortest = std::move(result);
    }
  }
  return justified(graph, placed, *std::move(shortest), std::move(schedule));
}

} // namespace dfc
