#include "ir/plan/feeds.h"

#include <algorithm>

namespace dfc {
namespace {

/// The input that a value is, or is a view of.
OpId inputOf(const Graph& graph, ValueId value) {
  OpId op = graph[value].producer;
  while (classOf(graph[op].kind()) == OpClass::View) {
    op = graph[graph[op].operands[0]].producer;
  }
  return graph[op].kind() == OpKind::Input ? op : OpId();
}

bool isGpu(const Machine& machine, DeviceId device) {
  return machine.devices[device].kind == DeviceKind::Gpu;
}

class FeedTimer {
 public:
  FeedTimer(const PlacedGraph& placed, const Schedule& schedule, const Machine& machine)
      : placed_(placed), schedule_(schedule), machine_(machine), onLink_(machine.links.size(), 0.0) {
    times_.inStep = SideTable<StepId, double>(schedule.steps.size());
  }

  FeedTimes run() {
    for (const StepId step : schedule_.steps.ids()) {
      add(step, schedule_.steps[step].alone());
    }
    times_.outside = staging_;
    for (const LinkId link : machine_.links.ids()) {
      const uint32_t slots = machine_.links[link].slots;
      times_.outside = std::max(times_.outside, slots > 0 ? onLink_[link.index()] / slots : 0);
    }
    return std::move(times_);
  }

 private:
  void add(StepId step, double seconds) {
    const OpId op = schedule_.steps[step].op;
    const auto transfer = placed_.transfers.find(op);
    times_.inStep[step] = seconds;
    if (placed_.graph[op].kind() == OpKind::Input) {
      hide(step, 0);
      staging_ += seconds;
    } else if (transfer != placed_.transfers.end() && isPrefetched(placed_, op, machine_)) {
      hide(step, prefetchedSeconds(machine_.devices[transfer->second.to], transfer->second.bytes));
      for (const LinkId link : transfer->second.links) {
        onLink_[link.index()] += seconds;
      }
    }
  }

  void hide(StepId step, double rest) {
    times_.any = times_.any || times_.inStep[step] > rest;
    times_.inStep[step] = std::min(times_.inStep[step], rest);
  }

  const PlacedGraph& placed_;
  const Schedule& schedule_;
  const Machine& machine_;
  FeedTimes times_;
  double staging_ = 0;
  std::vector<double> onLink_;
};

} // namespace

bool isFed(const Graph& graph, ValueId value) { return inputOf(graph, value).valid(); }

SideTable<OpId, bool> stagedInputs(const PlacedGraph& placed, const Machine& machine) {
  SideTable<OpId, bool> staged(placed.graph.opCount());
  for (const auto& [op, transfer] : placed.transfers) {
    const OpId input = inputOf(placed.graph, placed.graph[op].operands[0]);
    if (input.valid() && isGpu(machine, transfer.to)) {
      staged[input] = true;
    }
  }
  return staged;
}

bool isPrefetched(const PlacedGraph& placed, OpId transfer, const Machine& machine) {
  const TransferRow& row = placed.transfers.find(transfer)->second;
  return row.bytes >= leastPrefetchedBytes && isGpu(machine, row.to) && !isGpu(machine, row.from) &&
         isFed(placed.graph, placed.graph[transfer].operands[0]);
}

double stagingSeconds(const DeviceRow& host, int64_t bytes) {
  return host.memoryBandwidth > 0 ? 2 * static_cast<double>(bytes) / host.memoryBandwidth : 0;
}

double prefetchedSeconds(const DeviceRow& gpu, int64_t bytes) {
  return gpu.launchSeconds +
         (gpu.memoryBandwidth > 0 ? 2 * static_cast<double>(bytes) / gpu.memoryBandwidth : 0);
}

FeedTimes feedTimes(const PlacedGraph& placed, const Schedule& schedule, const Machine& machine) {
  return FeedTimer(placed, schedule, machine).run();
}

} // namespace dfc
