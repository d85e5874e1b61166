#include "compiler/place/task_graph_of.h"

#include "ir/machine/paths.h"
#include "ir/plan/placed_graph.h"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <cmath>

namespace dfc {
namespace {

// The size at which a route is chosen before any transfer's own size is known; large enough that bandwidth
// decides.
constexpr int64_t typicalTransferBytes = int64_t(1) << 20;

SideTable<OpId, bool> assignedParameters(const Graph& graph) {
  SideTable<OpId, bool> assigned(graph.opCount());
  for (const OpId op : graph.opsOf(OpKind::Assign)) {
    assigned[graph[graph[op].operands[0]].producer] = true;
  }
  return assigned;
}

bool isTask(const OpRow& row, bool assigned) {
  return row.kind() != OpKind::Constant && (row.kind() != OpKind::Parameter || assigned);
}

class TaskGraphMaker {
 public:
  TaskGraphMaker(const PlacementProblem& problem, llvm::ArrayRef<DeviceId> computing, Copies copies)
      : problem_(problem), graph_(problem.graph), machine_(problem.machine), paths_(machine_),
        copies_(copies), computes_(machine_.devices.size()), index_(machine_.devices.size(), anyDevice),
        itemOf_(graph_.valueCount()) {
    made_.taskOf = SideTable<OpId, TaskId>(graph_.opCount());
    for (const DeviceId device : computing) {
      computes_[device] = true;
    }
  }

  TensorTasks run() {
    chooseDevices();
    addDevices();
    addCommunication();
    const auto assigned = assignedParameters(graph_);
    for (const OpId op : graph_.ops()) {
      if (isTask(graph_[op], assigned[op])) {
        addTask(op);
      }
    }
    return std::move(made_);
  }

 private:
  void chooseDevices() {
    SideTable<DeviceId, bool> chosen = computes_;
    chosen[machine_.host()] = true;
    for (const OpId op : graph_.ops()) {
      if (problem_.pins[op].valid()) {
        chosen[problem_.pins[op]] = true;
      }
    }
    const SideTable<DeviceId, bool> ends = chosen;
    for (const DeviceId from : machine_.devices.ids()) {
      for (const DeviceId to : machine_.devices.ids()) {
        const auto path = copies_ == Copies::Explicit && ends[from] && ends[to]
                              ? paths_.path(from, to, typicalTransferBytes)
                              : std::nullopt;
        for (const Route& hop : path.value_or(std::vector<Route>())) {
          chosen[hop.to] = true;
        }
      }
    }
    for (const DeviceId device : machine_.devices.ids()) {
      if (chosen[device]) {
        index_[device] = static_cast<uint32_t>(made_.devices.size());
        made_.devices.push_back(device);
      }
    }
  }

  void addDevices() {
    for (const DeviceId device : made_.devices) {
      made_.graph.queues.push_back(std::max(1U, machine_.devices[device].computeQueues));
      made_.graph.begins.push_back(machine_.devices[device].stepOverheadSeconds);
    }
    for (const LinkRow& link : machine_.links) {
      if (copies_ == Copies::Explicit) {
        made_.graph.linkSlots.push_back(std::max(1U, link.slots));
      }
    }
  }

  void addCommunication() {
    for (const DeviceId from : made_.devices) {
      for (const DeviceId to : made_.devices) {
        LinkCost& cost = made_.graph.communication.emplace_back();
        const auto path = paths_.path(from, to, typicalTransferBytes);
        cost = path ? costOf(*path) : LinkCost{infiniteSeconds, 0};
        if (copies_ == Copies::Explicit) {
          addPath(path.value_or(std::vector<Route>()));
        }
      }
    }
  }

  LinkCost costOf(const std::vector<Route>& path) const {
    const double latency = problem_.cost.pathSeconds(machine_, path, 0);
    const double seconds = problem_.cost.pathSeconds(machine_, path, typicalTransferBytes);
    return {latency, (seconds - latency) / typicalTransferBytes};
  }

  void addPath(const std::vector<Route>& path) {
    auto& hops = made_.graph.paths.emplace_back();
    for (const Route& route : path) {
      TaskHop hop{index_[route.from], index_[route.to], costOf({route}), {}};
      for (const LinkId link : route.links) {
        if (machine_.links[link].slots > 0) {
          hop.links.push_back(link.index());
        }
      }
      hops.push_back(static_cast<uint32_t>(made_.graph.hops.size()));
      made_.graph.hops.push_back(std::move(hop));
    }
  }

  void addTask(OpId op) {
    const OpRow& row = graph_[op];
    TaskRow task;
    task.floating = row.kind() == OpKind::Parameter;
    const DeviceId only = row.kind() == OpKind::Input ? machine_.host() : problem_.pins[op];
    fillSeconds(task, op, [&](DeviceId device) { return only.valid() ? only == device : computes_[device]; });
    if (!only.valid() && llvm::none_of(task.seconds, [](double seconds) { return std::isfinite(seconds); })) {
      fillSeconds(task, op, [](DeviceId) { return true; });
    }
    made_.runs &= llvm::any_of(task.seconds, [](double seconds) { return std::isfinite(seconds); });
    const TaskId id = made_.graph.tasks.add(std::move(task));
    made_.taskOf[op] = id;
    for (const ValueId operand : row.operands) {
      addEdge(operand, id);
    }
    if (row.kind() == OpKind::Assign) {
      made_.graph.tasks[id].follows = made_.taskOf[graph_[row.operands[0]].producer];
    }
  }

  template <class Allowed>
  void fillSeconds(TaskRow& task, OpId op, Allowed allowed) {
    task.seconds.clear();
    for (const DeviceId device : made_.devices) {
      const double seconds = task.floating ? 0 : problem_.cost.opSeconds(graph_, op, machine_, device);
      task.seconds.push_back(allowed(device) ? seconds : infiniteSeconds);
    }
  }

  void addEdge(ValueId operand, TaskId reader) {
    const TaskId producer = made_.taskOf[graph_[operand].producer];
    if (!producer.valid()) {
      return;
    }
    if (!itemOf_[operand].valid()) {
      itemOf_[operand] = made_.graph.addItem(producer, static_cast<double>(graph_.typeOf(operand).bytes()));
    }
    made_.graph.addEdge(itemOf_[operand], reader);
  }

  const PlacementProblem& problem_;
  const Graph& graph_;
  const Machine& machine_;
  const Paths paths_;
  Copies copies_;
  SideTable<DeviceId, bool> computes_;
  SideTable<DeviceId, uint32_t> index_;
  SideTable<ValueId, ItemId> itemOf_;
  TensorTasks made_;
};

// An assigned parameter lives where its assign writes.
void joinAssigns(Placement& placement) {
  for (const OpId op : placement.graph.opsOf(OpKind::Assign)) {
    placement.device[placement.graph[placement.graph[op].operands[0]].producer] = placement.device[op];
  }
}

} // namespace

TensorTasks taskGraphOf(const PlacementProblem& problem, llvm::ArrayRef<DeviceId> computing, Copies copies) {
  return TaskGraphMaker(problem, computing, copies).run();
}

Placement placementOf(const TaskSchedule& schedule, const TensorTasks& tasks, const PlacementProblem& problem,
                      std::string policy) {
  Placement placement{problem.graph,
                      SideTable<OpId, DeviceId>(problem.graph.opCount(), problem.machine.host()),
                      std::move(policy)};
  for (const OpId op : problem.graph.ops()) {
    if (tasks.taskOf[op].valid()) {
      placement.device[op] = tasks.devices[schedule.tasks[tasks.taskOf[op]].device];
    } else if (problem.pins[op].valid()) {
      placement.device[op] = problem.pins[op];
    }
  }
  settleResidents(placement, problem);
  return placement;
}

void settleResidents(Placement& placement, const PlacementProblem& problem) {
  SideTable<OpId, bool> settled(problem.graph.opCount());
  for (const OpId op : problem.graph.ops()) {
    for (const ValueId operand : problem.graph[op].operands) {
      const OpId producer = problem.graph[operand].producer;
      if (isResident(problem.graph[producer].kind()) && !settled[producer]) {
        settled[producer] = true;
        placement.device[producer] =
            problem.pins[producer].valid() ? problem.pins[producer] : placement.device[op];
      }
    }
  }
  joinAssigns(placement);
}

} // namespace dfc
