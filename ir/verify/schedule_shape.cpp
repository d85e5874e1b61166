// scheduleShape: ids, positions, queues, waits and predicted times of a schedule, each on its own,
// without happens-before.
#include "ir/verify/parts.h"

#include <fmt/format.h>
#include <llvm/ADT/DenseSet.h>

namespace dfc {
namespace {

/// Far above any machine's, and low enough that a table by queue and step stays in hand.
constexpr size_t mostQueues = 8192;
/// Above this many pairs of a step and a queue that has steps, clocks would take more than 2 GiB.
constexpr uint64_t mostClockEntries = uint64_t{1} << 29;

class ShapeVerifier {
 public:
  ShapeVerifier(const Schedule& schedule, const PlacedGraph& placed, const Machine& machine)
      : schedule_(schedule), placed_(placed), machine_(machine), findings_(placed.graph) {}

  Diagnostics run() {
    const bool sized = checkSizes();
    checkQueues();
    if (!sized || !findings_.empty()) {
      return findings_.take();
    }
    checkLists();
    checkStepOfEachOp();
    if (!findings_.empty()) {
      return findings_.take();
    }
    lastWaiter_.resize(schedule_.queues.size());
    for (const StepId step : schedule_.steps.ids()) {
      checkPlace(step);
      checkWaits(step);
    }
    return findings_.take();
  }

 private:
  std::string nameOf(StepId step) const {
    return std::string(placed_.graph.nameOf(schedule_.steps[step].op));
  }
  std::string queueText(QueueId queue) const { return schedule_.nameOf(queue, machine_); }

  bool checkSizes() {
    const size_t ops = placed_.graph.opCount();
    if (schedule_.stepOf.size() != ops || placed_.device.size() != ops) {
      findings_.add(
          fmt::format("the schedule knows {} ops, the placed graph has {}", schedule_.stepOf.size(), ops));
    }
    if (schedule_.queues.size() > mostQueues || StepClocks::entries(schedule_) > mostClockEntries) {
      findings_.add(fmt::format("{} steps on {} queues are more than dfc can verify", schedule_.steps.size(),
                                schedule_.queues.size()),
                    "plan for fewer queues a device, or fewer devices");
    }
    return findings_.empty();
  }

  void checkQueues() {
    llvm::DenseSet<std::pair<uint64_t, uint32_t>> seen;
    for (const QueueId queue : schedule_.queues.ids()) {
      const QueueRow& row = schedule_.queues[queue];
      if (!machine_.devices.contains(row.device)) {
        findings_.add(fmt::format("queue {} is on {}, which machine '{}' does not have", queue.index(),
                                  deviceText(machine_, row.device), machine_.name));
        continue;
      }
      const DeviceRow& device = machine_.devices[row.device];
      const uint64_t place = uint64_t{row.device.index()} * 4 + static_cast<uint64_t>(row.kind);
      if (!seen.insert({place, row.index}).second) {
        findings_.add(
            fmt::format("{} has two {} queues of index {}", device.name, name(row.kind), row.index));
      }
      if (row.kind == QueueKind::Compute && row.index >= device.computeQueues) {
        findings_.add(fmt::format("{} has {} compute queues; index {} is past the last", device.name,
                                  device.computeQueues, row.index));
      }
    }
  }

  /// A step is where its row says, so that each is on exactly one queue, once.
  void checkLists() {
    size_t listed = 0;
    for (const QueueId queue : schedule_.queues.ids()) {
      const auto& steps = schedule_.queues[queue].steps;
      listed += steps.size();
      for (uint32_t i = 0; i < steps.size(); ++i) {
        checkListed(queue, i, steps[i]);
      }
    }
    if (findings_.empty() && listed != schedule_.steps.size()) {
      findings_.add(fmt::format("{} steps, of which {} are on a queue", schedule_.steps.size(), listed));
    }
  }

  void checkListed(QueueId queue, uint32_t position, StepId step) {
    if (!schedule_.steps.contains(step)) {
      findings_.add(
          fmt::format("{}: position {} names a step that does not exist", queueText(queue), position));
      return;
    }
    const StepRow& row = schedule_.steps[step];
    if (row.queue != queue || row.position != position) {
      findings_.add(fmt::format("{}: position {} holds step {}, which is somewhere else by its own row",
                                queueText(queue), position, step.index()));
    } else if (position > 0 && schedule_.queues[queue].steps[position - 1] >= step) {
      findings_.add(fmt::format("{}: steps {} and {} are not in the order of their ids", queueText(queue),
                                schedule_.queues[queue].steps[position - 1].index(), step.index()));
    }
  }

  void checkStepOfEachOp() {
    for (const StepId step : schedule_.steps.ids()) {
      const OpId op = schedule_.steps[step].op;
      if (op.index() >= placed_.graph.opCount()) {
        findings_.add(fmt::format("step {} runs an op that does not exist", step.index()));
      } else if (schedule_.stepOf[op] != step) {
        findings_.at(op, fmt::format("op '{}' has another step beside step {}, or none by its own row",
                                     placed_.graph.nameOf(op), step.index()));
      }
    }
    for (const OpId op : placed_.graph.ops()) {
      const StepId step = schedule_.stepOf[op];
      const bool has = schedule_.steps.contains(step) && schedule_.steps[step].op == op;
      if (placed_.isResident(op) && step.valid()) {
        findings_.at(op, fmt::format("op '{}' is resident and must have no step", placed_.graph.nameOf(op)));
      } else if (!placed_.isResident(op) && !has) {
        findings_.at(op, fmt::format("op '{}' has no step", placed_.graph.nameOf(op)));
      }
    }
  }

  void checkPlace(StepId step) {
    const OpId op = schedule_.steps[step].op;
    const QueueRow& queue = schedule_.queues[schedule_.steps[step].queue];
    const bool suits =
        placed_.graph[op].kind() == OpKind::Transfer ? suitsTransfer(op, queue) : suitsOp(op, queue);
    if (!suits) {
      findings_.at(
          op,
          fmt::format("op '{}' of {} cannot run on {}", placed_.graph.nameOf(op),
                      deviceText(machine_, placed_.device[op]), queueText(schedule_.steps[step].queue)),
          "transfers run on the copy queue of one of their ends, between two cpus and for a kernel of a gpu "
          "that reads in another's memory on the target's compute queue; other ops on a compute queue of "
          "their device");
    }
  }

  bool suitsOp(OpId op, const QueueRow& queue) const {
    const bool feed = placed_.graph[op].kind() == OpKind::Input && queue.kind == QueueKind::CopyIn;
    return queue.device == placed_.device[op] && (queue.kind == QueueKind::Compute || feed);
  }

  bool isGpu(DeviceId device) const { return machine_.devices[device].kind == DeviceKind::Gpu; }

  bool suitsTransfer(OpId op, const QueueRow& queue) const {
    const auto found = placed_.transfers.find(op);
    if (found == placed_.transfers.end()) {
      return false;
    }
    const bool atSource = queue.device == found->second.from;
    const bool atTarget = queue.device == found->second.to;
    switch (queue.kind) {
    case QueueKind::Compute: return atTarget && isGpu(found->second.from) == isGpu(found->second.to);
    case QueueKind::CopyIn: return atTarget;
    case QueueKind::CopyOut: return atSource;
    case QueueKind::Peer: return atSource || atTarget;
    }
    return false;
  }

  void checkWaits(StepId step) {
    const StepRow& row = schedule_.steps[step];
    for (const StepId wait : row.waits) {
      if (!schedule_.steps.contains(wait)) {
        findings_.at(row.op, fmt::format("op '{}' waits for a step that does not exist", nameOf(step)));
        continue;
      }
      const QueueId queue = schedule_.steps[wait].queue;
      if (wait >= step) {
        findings_.at(
            row.op,
            fmt::format("op '{}' waits for '{}', which does not come before it", nameOf(step), nameOf(wait)),
            "steps that wait for one another never start");
      } else if (queue == row.queue) {
        findings_.at(row.op,
                     fmt::format("op '{}' waits for '{}' of its own queue", nameOf(step), nameOf(wait)),
                     "a queue runs its steps in order");
      } else if (lastWaiter_[queue] == step) {
        findings_.at(row.op, fmt::format("op '{}' waits twice for {}", nameOf(step), queueText(queue)),
                     "the later wait implies the earlier");
      }
      lastWaiter_[queue] = step;
    }
  }

  const Schedule& schedule_;
  const PlacedGraph& placed_;
  const Machine& machine_;
  Findings findings_;
  SideTable<QueueId, StepId> lastWaiter_; // the last step seen to wait for each queue
};

} // namespace

Diagnostics scheduleShape(const Schedule& schedule, const PlacedGraph& placed, const Machine& machine) {
  return ShapeVerifier(schedule, placed, machine).run();
}

} // namespace dfc
