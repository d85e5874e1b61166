#include "compiler/place/task_graph_of.h"

#include <algorithm>

namespace dfc {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

// The size at which a route is chosen before any transfer's own size is known; large enough that bandwidth
// decides.
constexpr int64_t typicalTransferBytes = int64_t(1) << 20;

std::vector<LinkCost> communicationOf(const Machine& machine, const CostModel& model) {
  std::vector<LinkCost> costs;
  for (const DeviceId from : machine.devices.ids()) {
    for (const DeviceId to : machine.devices.ids()) {
      LinkCost& cost = costs.emplace_back();
      const auto path = machine.path(from, to, typicalTransferBytes);
      if (!path) {
        cost = {never, 0};
        continue;
      }
      for (const Route& hop : *path) {
        const double latency = model.transferSeconds(machine, hop, 0);
        cost.latency += latency;
        cost.secondsPerByte +=
            (model.transferSeconds(machine, hop, typicalTransferBytes) - latency) / typicalTransferBytes;
      }
    }
  }
  return costs;
}

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

} // namespace

TensorTasks taskGraphOf(const Graph& graph, const Machine& machine, const CostModel& cost,
                        const SideTable<OpId, DeviceId>& pins) {
  TensorTasks made{{}, SideTable<OpId, TaskId>(graph.opCount())};
  TaskGraph& result = made.graph;
  result.communication = communicationOf(machine, cost);
  for (const DeviceRow& device : machine.devices) {
    result.queues.push_back(std::max(1U, device.computeQueues));
    result.begins.push_back(device.stepOverheadSeconds);
  }
  const auto assigned = assignedParameters(graph);
  for (const OpId op : graph.ops()) {
    const OpRow& row = graph[op];
    if (!isTask(row, assigned[op])) {
      continue;
    }
    TaskRow task;
    task.floating = row.kind() == OpKind::Parameter;
    const DeviceId only = row.kind() == OpKind::Input ? machine.host() : pins[op];
    for (const DeviceId device : machine.devices.ids()) {
      const bool allowed = !only.valid() || only == device;
      const double seconds = task.floating ? 0 : cost.opSeconds(graph, op, machine, device);
      task.seconds.push_back(allowed ? seconds : never);
    }
    const TaskId id = result.tasks.add(std::move(task));
    made.taskOf[op] = id;
    for (const ValueId operand : row.operands) {
      const TaskId producer = made.taskOf[graph[operand].producer];
      if (producer.valid()) {
        result.addEdge(producer, id, static_cast<double>(graph.typeOf(operand).bytes()));
      }
    }
    if (row.kind() == OpKind::Assign) {
      result.tasks[id].follows = made.taskOf[graph[row.operands[0]].producer];
    }
  }
  return made;
}

} // namespace dfc
