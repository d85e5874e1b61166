#include "compiler/schedule/late_updates.h"

namespace dfc {
namespace {

/// Of the operands and results of a late op. Kernels on more are hardly shorter for a shared launch.
constexpr int64_t mostBytes = 64 << 10;

int64_t bytesOf(const Graph& graph, OpId op) {
  int64_t bytes = 0;
  for (const ValueId operand : graph[op].operands) {
    bytes += graph.typeOf(operand).bytes();
  }
  for (const ValueId result : graph[op].results()) {
    bytes += graph.typeOf(result).bytes();
  }
  return bytes;
}

bool computesOnGpu(const PlacedGraph& placed, const Machine& machine, OpId op) {
  return machine.devices[placed.device[op]].kind == DeviceKind::Gpu && placed.transfers.count(op) == 0 &&
         placed.graph[op].kind() != OpKind::Input;
}

/// By op: whether results are fetched, or the op updates no state and nothing comes behind it.
SideTable<OpId, bool> wantedSoon(const Graph& graph) {
  SideTable<OpId, bool> soon(graph.opCount(), true);
  for (const OpId op : graph.ops()) {
    soon[op] = graph[op].kind() != OpKind::Assign;
    for (const ValueId operand : graph[op].operands) {
      soon[graph[operand].producer] = false;
    }
  }
  for (const Fetch& fetch : graph.fetches()) {
    soon[graph[fetch.value].producer] = true;
  }
  return soon;
}

} // namespace

void markLateUpdates(const PlacedGraph& placed, const Machine& machine, ScheduleProblem& problem) {
  const SideTable<OpId, bool> soon = wantedSoon(placed.graph);
  for (size_t task = 0; task < problem.opOf.size(); ++task) {
    const OpId op = problem.opOf[task];
    problem.list.tasks[task].late =
        !soon[op] && computesOnGpu(placed, machine, op) && bytesOf(placed.graph, op) <= mostBytes;
  }
  unmarkWhatOthersNeed(problem.list);
}

// From the last task to the first: what comes behind a task is settled when the task is reached.
void unmarkWhatOthersNeed(ListProblem& problem) {
  for (size_t task = problem.tasks.size(); task-- > 0;) {
    const ListTask& row = problem.tasks[task];
    for (const uint32_t before : row.before) {
      problem.tasks[before].late &= row.late && problem.tasks[before].group == row.group;
    }
  }
}

} // namespace dfc
