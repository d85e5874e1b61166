#include "compiler/place/makespan_bound.h"

#include "compiler/schedule/schedule.h"
#include "ir/plan/peer_reads.h"

#include <algorithm>

namespace dfc {
namespace {

constexpr size_t queueKinds = static_cast<size_t>(QueueKind::Peer) + 1;

class WorkSum {
 public:
  WorkSum(const Placement& placement, const PlacementProblem& problem)
      : placement_(placement), problem_(problem), graph_(problem.graph), machine_(problem.machine),
        peers_(machine_), arrived_(graph_.valueCount() * wordsPerValue()),
        computing_(machine_.devices.size()), copying_(machine_.devices.size() * queueKinds),
        onLink_(machine_.links.size()) {}

  double most() {
    for (const OpId op : graph_.ops()) {
      if (!isResident(graph_[op].kind())) {
        addWork(op);
      }
      for (const ValueId operand : graph_[op].operands) {
        addTransfers(operand, placement_.device[op]);
      }
    }
    for (const Fetch& fetch : graph_.fetches()) {
      addTransfers(fetch.value, machine_.host());
    }
    const auto greatest = [](const std::vector<double>& seconds) {
      return seconds.empty() ? 0.0 : *std::max_element(seconds.begin(), seconds.end());
    };
    return std::max({greatest(computing_), greatest(copying_), greatest(onLink_)});
  }

 private:
  void addWork(OpId op) {
    const DeviceId device = placement_.device[op];
    computing_[device.index()] += problem_.cost.opSeconds(graph_, op, machine_, device) /
                                  std::max(1U, machine_.devices[device].computeQueues);
  }

  bool isRecomputed(OpId op) const { return !placement_.recomputed.empty() && placement_.recomputed[op]; }

  // Resident values have a copy on every device that reads them. A transfer of an assign's result is counted
  // at the assign only; counting too few keeps the bound.
  void addTransfers(ValueId value, DeviceId to) {
    const OpId producer = graph_[value].producer;
    const DeviceId from = placement_.device[producer];
    if (from == to || isResident(graph_[producer].kind()) || graph_[producer].kind() == OpKind::Assign ||
        isRecomputed(producer) || hasArrived(value, to)) {
      return;
    }
    const int64_t bytes = graph_.typeOf(value).bytes();
    if (problem_.lowering.peerReads && bytes <= smallPeerRead && peers_.reaches(to, from)) {
      return; // it may be read there
    }
    const auto path = machine_.path(from, to, bytes);
    DFC_ASSERT(path.has_value(), "no route between two devices of a verified machine");
    for (const Route& hop : *path) {
      if (!hasArrived(value, hop.to)) {
        arrive(value, hop.to);
        addHop(hop, problem_.cost.transferSeconds(machine_, hop, bytes));
      }
    }
  }

  void addHop(const Route& hop, double seconds) {
    const CopyQueue queue = copyQueueOf(hop.from, hop.to, machine_);
    if (queue.kind != QueueKind::Compute) { // a device may have several compute queues
      copying_[queue.device.index() * queueKinds + static_cast<size_t>(queue.kind)] += seconds;
    }
    for (const LinkId link : hop.links) {
      const uint32_t slots = machine_.links[link].slots;
      onLink_[link.index()] += slots == 0 ? 0 : seconds / slots;
    }
  }

  // One bit for every pair of value and device.
  size_t wordsPerValue() const { return (machine_.devices.size() + 63) / 64; }
  uint64_t& wordOf(ValueId value, DeviceId device) {
    return arrived_[value.index() * wordsPerValue() + device.index() / 64];
  }
  bool hasArrived(ValueId value, DeviceId device) {
    return (wordOf(value, device) >> (device.index() % 64) & 1) != 0;
  }
  void arrive(ValueId value, DeviceId device) {
    wordOf(value, device) |= uint64_t(1) << (device.index() % 64);
  }

  const Placement& placement_;
  const PlacementProblem& problem_;
  const Graph& graph_;
  const Machine& machine_;
  PeerAccess peers_;
  std::vector<uint64_t> arrived_;
  std::vector<double> computing_, copying_, onLink_;
};

} // namespace

double makespanBound(const Placement& placement, const PlacementProblem& problem) {
  constexpr double rounding = 1e-9;
  return WorkSum(placement, problem).most() * (1 - rounding);
}

} // namespace dfc
