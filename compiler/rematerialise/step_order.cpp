#include "compiler/rematerialise/step_order.h"

#include "compiler/rematerialise/least_need.h"
#include "compiler/schedule/schedule_problem.h"
#include "compiler/transfer/insert_transfers.h"
#include "ir/plan/in_place.h"
#include "ir/plan/memory_plan.h"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace dfc {
namespace {

// Bytes of parameters and constants with their replicas. A view of one has none of its own.
SideTable<DeviceId, int64_t> residentBytes(const PlacedGraph& placed, size_t devices) {
  SideTable<DeviceId, int64_t> bytes(devices, 0);
  for (const OpId op : placed.graph.ops()) {
    if (placed.isResident(op)) {
      bytes[placed.device[op]] += alignUp(placed.graph.typeOf(placed.graph[op].firstResult).bytes());
    }
  }
  return bytes;
}

// Transfers and replicas are the placed graph's own ops.
std::vector<OpId> withoutTransfers(const std::vector<uint32_t>& order, const ScheduleProblem& problem,
                                   const PlacedGraph& placed, const Graph& graph) {
  std::vector<OpId> ops;
  SideTable<OpId, bool> listed(graph.opCount(), false);
  for (const uint32_t task : order) {
    const OpId there = problem.opOf[task];
    if (placed.transfers.count(there) != 0) {
      continue;
    }
    const ValueId value = graph.findValue(placed.graph.nameOf(there));
    if (value.valid() && !listed[graph[value].producer]) {
      listed[graph[value].producer] = true;
      ops.push_back(graph[value].producer);
    }
  }
  // Ops that transfers replaced, such as casts that are kept beside their parameter, and what a pass of
  // transfers renamed: in the graph's order, which is topological, behind what they read.
  if (llvm::any_of(graph.ops(), [&](OpId op) { return !isResident(graph[op].kind()) && !listed[op]; })) {
    SideTable<OpId, size_t> at(graph.opCount(), 0);
    for (size_t i = 0; i < ops.size(); ++i) {
      at[ops[i]] = i;
    }
    std::vector<OpId> all;
    for (const OpId op : graph.ops()) {
      if (isResident(graph[op].kind())) {
        continue;
      }
      for (const ValueId operand : graph[op].operands) {
        at[op] = std::max(at[op], at[graph[operand].producer]);
      }
      all.push_back(op);
    }
    llvm::stable_sort(all, [&](OpId a, OpId b) { return at[a] < at[b]; });
    return all;
  }
  return ops;
}

} // namespace

StepOrder stepOrder(const Placement& placement, const Machine& machine, const CostModel& cost,
                    Sources sources) {
  const PlacedGraph placed = insertTransfers(placement, machine, Narrow::CastAnew);
  const ScheduleProblem problem = scheduleProblem(placed, machine, cost);
  llvm::SmallVector<DeviceId, 8> limited;
  StepOrder order{{}, residentBytes(placed, machine.devices.size()), {}};
  for (const DeviceId device : machine.devices.ids()) {
    const int64_t capacity = machine.devices[device].memoryBytes;
    int64_t& available = order.available[device];
    available = capacity == 0 ? std::numeric_limits<int64_t>::max()
                              : capacity / arenaAlignment * arenaAlignment - available;
    if (capacity != 0) {
      limited.push_back(device);
    }
  }
  std::vector<uint32_t> byGraph(problem.opOf.size());
  std::iota(byGraph.begin(), byGraph.end(), 0U);
  const MemoryRequirements requirements = memoryRequirements(placed, problem, limited);
  LowPeakOrder low = lowPeakOrder(problem.list, requirements, byGraph, machine.devices.size(), sources);
  const auto excess = [&](const LowPeakOrder& one) {
    double bytes = 0;
    for (const DeviceId device : limited) {
      bytes +=
          std::max(0.0, static_cast<double>(one.peak[device]) - static_cast<double>(order.available[device]));
    }
    return bytes;
  };
  if (sources == Sources::AtStart && excess(low) > 0) {
    LowPeakOrder byNeed =
        lowPeakOrder(problem.list, requirements, ranksByNeed(problem.list), machine.devices.size());
    if (excess(byNeed) < excess(low)) {
      low = std::move(byNeed);
    }
  }
  order.ops = withoutTransfers(low.order, problem, placed, placement.graph);
  order.peak = low.peak;
  return order;
}

double useOf(const StepOrder& order) {
  double most = 0;
  for (const DeviceId device : order.peak.ids()) {
    if (order.peak[device] > 0) {
      most = std::max(most, static_cast<double>(order.peak[device]) /
                                std::max(1.0, static_cast<double>(order.available[device])));
    }
  }
  return most;
}

double needOf(const StepOrder& order, const Machine& machine) {
  double most = 0;
  for (const DeviceId device : machine.devices.ids()) {
    const auto capacity = static_cast<double>(machine.devices[device].memoryBytes);
    if (capacity > 0) {
      const double free = static_cast<double>(order.available[device] - order.peak[device]);
      most = std::max(most, 1 - free / capacity);
    }
  }
  return most;
}

bool mayFit(const StepOrder& order) {
  constexpr double otherOrders = 1.2;
  return useOf(order) <= otherOrders;
}

} // namespace dfc
