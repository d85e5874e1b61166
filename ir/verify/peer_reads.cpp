// Peer reads and their waits: whatever the schedule orders before or behind a transfer that is left out is
// ordered before or behind its reader, and all other steps keep their order.
#include "ir/verify/parts.h"

#include <fmt/format.h>
#include <llvm/ADT/STLExtras.h>

#include <algorithm>

namespace dfc {
namespace {

class PeerCheck {
 public:
  PeerCheck(const PeerReads& peers, const PlacedGraph& placed, const Schedule& schedule,
            const Machine& machine)
      : peers_(peers), graph_(placed.graph), schedule_(schedule), machine_(machine), findings_(placed.graph),
        replaced_(schedule.steps.size()), uses_(placed.graph.valueCount()) {
    for (const OpId op : graph_.ops()) {
      for (const ValueId operand : graph_[op].operands) {
        ++uses_[operand];
      }
    }
    for (const Fetch& fetch : graph_.fetches()) {
      ++uses_[fetch.value];
    }
  }

  Diagnostics run() {
    if (peers_.waits.size() != (peers_.reads.empty() ? 0 : schedule_.steps.size())) {
      findings_.add(fmt::format("waits of {} steps with peer reads, of {}", peers_.waits.size(),
                                schedule_.steps.size()));
    }
    for (const PeerRead& read : peers_.reads) {
      checkRead(read);
    }
    for (const StepId step : peers_.waits.ids()) {
      checkWaits(step);
    }
    if (findings_.empty() && !peers_.reads.empty()) {
      checkOrder();
    }
    return findings_.take();
  }

 private:
  const QueueRow& queueOf(StepId step) const { return schedule_.queues[schedule_.steps[step].queue]; }
  bool isGpuStep(StepId step) const { return machine_.devices[queueOf(step).device].kind == DeviceKind::Gpu; }
  bool isComputing(StepId step) const { return queueOf(step).kind == QueueKind::Compute; }

  void checkRead(const PeerRead& read) {
    if (!schedule_.steps.contains(read.transfer) || !schedule_.steps.contains(read.reader)) {
      findings_.add("a peer read of steps that do not exist");
      return;
    }
    const OpId transfer = schedule_.steps[read.transfer].op, reader = schedule_.steps[read.reader].op;
    const OpRow& row = graph_[transfer];
    if (row.kind() != OpKind::Transfer || !isGpuStep(read.reader) || !isComputing(read.reader) ||
        !isGpuStep(read.transfer) || replaced_[read.transfer] ||
        read.operand >= graph_[reader].operands.size() ||
        graph_[reader].operands[read.operand] != row.firstResult || uses_[row.firstResult] != 1) {
      findings_.at(transfer, "is replaced by a read that cannot replace it");
      return;
    }
    replaced_[read.transfer] = true;
  }

  void checkWaits(StepId step) {
    for (const StepId wait : peers_.waits[step]) {
      if (!schedule_.steps.contains(wait) || schedule_.steps[wait].queue == schedule_.steps[step].queue) {
        findings_.add(fmt::format("step {} with peer reads waits for step {}", step.index(), wait.index()));
      }
    }
  }

  // The same steps, numbered in a topological order of the new waits.
  std::optional<Schedule> reordered(SideTable<StepId, StepId>& numbers) const {
    const std::vector<StepId> order = orderOf(schedule_, peers_.waits);
    if (order.size() != schedule_.steps.size()) {
      return std::nullopt;
    }
    numbers.resize(order.size());
    for (uint32_t i = 0; i < order.size(); ++i) {
      numbers[order[i]] = StepId(i);
    }
    Schedule other;
    for (QueueRow queue : schedule_.queues) {
      for (StepId& step : queue.steps) {
        step = numbers[step];
      }
      other.queues.add(std::move(queue));
    }
    for (const StepId step : order) {
      StepRow row = schedule_.steps[step];
      row.waits.clear();
      for (const StepId wait : peers_.waits[step]) {
        row.waits.push_back(numbers[wait]);
      }
      other.steps.add(std::move(row));
    }
    return other;
  }

  void checkOrder() {
    SideTable<StepId, StepId> numbers;
    const std::optional<Schedule> other = reordered(numbers);
    if (!other) {
      findings_.add("the waits with peer reads have a cycle");
      return;
    }
    const HappensBefore before(schedule_), after(*other);
    const auto kept = [&](StepId a, StepId b) { return a == b || after.ordered(numbers[a], numbers[b]); };
    for (const StepId step : schedule_.steps.ids()) {
      for (const StepId wait : schedule_.steps[step].waits) {
        if (!replaced_[step] && !replaced_[wait] && !kept(wait, step)) {
          findings_.at(schedule_.steps[step].op, "no longer waits for what it needs, with peer reads");
        }
      }
    }
    for (const PeerRead& read : peers_.reads) {
      for (const QueueId queue : schedule_.queues.ids()) {
        const StepId last = lastBefore(before, read.transfer, queue);
        const StepId first = firstBehind(before, read.transfer, queue);
        if ((last.valid() && !kept(last, read.reader)) || (first.valid() && !kept(read.reader, first))) {
          findings_.at(schedule_.steps[read.transfer].op,
                       "is left out, and its reader is not ordered with the other steps as it was");
        }
      }
    }
  }

  // Of the steps of a queue that end before `step`, the last with work: the queue's order implies the others.
  StepId lastBefore(const HappensBefore& before, StepId step, QueueId queue) const {
    const auto& steps = schedule_.queues[queue].steps;
    uint32_t count = steps.empty() ? 0 : before.countBefore(step, queue);
    while (count > 0 && replaced_[steps[count - 1]]) {
      --count;
    }
    return count > 0 ? steps[count - 1] : StepId();
  }

  // Of the steps of a queue that start behind `step`, the first with work.
  StepId firstBehind(const HappensBefore& before, StepId step, QueueId queue) const {
    const auto& steps = schedule_.queues[queue].steps;
    const auto* found = std::partition_point(steps.begin(), steps.end(),
                                             [&](StepId other) { return !before.ordered(step, other); });
    found = std::find_if(found, steps.end(), [&](StepId other) { return !replaced_[other]; });
    return found != steps.end() ? *found : StepId();
  }

  const PeerReads& peers_;
  const Graph& graph_;
  const Schedule& schedule_;
  const Machine& machine_;
  Findings findings_;
  SideTable<StepId, bool> replaced_;
  SideTable<ValueId, uint32_t> uses_; // operands and fetches
};

} // namespace

Diagnostics checkPeerReads(const PeerReads& peers, const PlacedGraph& placed, const Schedule& schedule,
                           const Machine& machine) {
  return PeerCheck(peers, placed, schedule, machine).run();
}

} // namespace dfc
