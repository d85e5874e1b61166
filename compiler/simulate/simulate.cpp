#include "compiler/simulate/simulate.h"

#include "compiler/schedule/processor_sharing.h"
#include "ir/plan/executable_parts.h"
#include "ir/plan/memory_traffic.h"

#include <algorithm>
#include <limits>
#include <set>

namespace dfc {
namespace {

class Simulator {
 public:
  Simulator(const PlacedGraph& placed, const Schedule& schedule, const Machine& machine)
      : placed_(placed), schedule_(schedule), machine_(machine), missing_(schedule.steps.size()),
        waiting_(schedule.steps.size()), begun_(schedule.steps.size()),
        clock_(schedule.steps.size() + schedule.queues.size(), 2 * machine.devices.size()) {
    result_.busy = SideTable<QueueId, double>(schedule_.queues.size());
    result_.linkBusy = SideTable<LinkId, double>(machine.links.size());
    for (const LinkRow& link : machine.links) {
      freeSlots_.push_back(link.slots == 0 ? std::numeric_limits<uint32_t>::max() : link.slots);
    }
  }

  Simulation run() {
    for (const StepId step : schedule_.steps.ids()) {
      countWaits(step);
    }
    openQueues();
    startAsking(0);
    while (!clock_.idle()) {
      const double now = clock_.next();
      while (!clock_.idle() && clock_.next() == now) {
        end(clock_.end(), now);
      }
      startAsking(now);
    }
    DFC_ASSERT(ended_ == schedule_.steps.size(), "a verified schedule has no deadlock");
    return std::move(result_);
  }

 private:
  // A queue that begins later is held back by a task of its own, numbered after the steps.
  void openQueues() {
    for (const QueueId queue : schedule_.queues.ids()) {
      const QueueRow& row = schedule_.queues[queue];
      const double begin = machine_.devices[row.device].stepOverheadSeconds;
      if (begin > 0 && !row.steps.empty()) {
        ++missing_[row.steps.front()];
        asking_.erase(row.steps.front());
        clock_.start(opener(queue), 0, begin, {});
      }
    }
  }
  uint32_t opener(QueueId queue) const {
    return static_cast<uint32_t>(schedule_.steps.size()) + queue.index();
  }

  void countWaits(StepId step) {
    const StepRow& row = schedule_.steps[step];
    const auto waitFor = [&](StepId before) {
      waiting_[before].push_back(step);
      ++missing_[step];
    };
    if (row.position > 0) {
      waitFor(schedule_.queues[row.queue].steps[row.position - 1]);
    }
    for (const StepId wait : row.waits) {
      waitFor(wait);
    }
    if (missing_[step] == 0) {
      asking_.insert(step);
    }
  }

  // Null for computations, and for transfers that take no time, as those that peer reads replace.
  const TransferRow* transferOf(StepId step) const {
    const auto found = placed_.transfers.find(schedule_.steps[step].op);
    return found == placed_.transfers.end() || schedule_.steps[step].alone() == 0 ? nullptr : &found->second;
  }

  void startAsking(double now) {
    for (auto next = asking_.begin(); next != asking_.end();) {
      if (start(*next, now)) {
        next = asking_.erase(next);
      } else {
        ++next;
      }
    }
  }

  bool start(StepId step, double now) {
    const StepRow& row = schedule_.steps[step];
    if (const TransferRow* transfer = transferOf(step)) {
      const bool free = std::all_of(transfer->links.begin(), transfer->links.end(),
                                    [&](LinkId link) { return freeSlots_[link.index()] > 0; });
      if (!free) {
        return false;
      }
      for (const LinkId link : transfer->links) {
        --freeSlots_[link.index()];
        result_.linkBusy[link] += row.alone();
      }
    }
    begun_[step] = result_.trace.spans.size();
    result_.trace.spans.push_back({step, 0, now, now});
    const MemoryTraffic traffic = memoryTraffic(placed_, row.op, row.alone(), machine_);
    const auto memory = static_cast<uint32_t>(machine_.devices.size()) +
                        (traffic.device.valid() ? traffic.device.index() : 0);
    clock_.start(step.index(), now, row.alone(),
                 {schedule_.queues[row.queue].device.index(), row.utilisation}, {memory, traffic.share});
    return true;
  }

  void end(uint32_t task, double now) {
    if (task >= schedule_.steps.size()) {
      const QueueId queue(task - static_cast<uint32_t>(schedule_.steps.size()));
      letGo(schedule_.queues[queue].steps.front());
      return;
    }
    endStep(StepId(task), now);
  }

  void endStep(StepId step, double now) {
    Span& span = result_.trace.spans[begun_[step]];
    span.end = now;
    result_.busy[schedule_.steps[step].queue] += now - span.begin;
    result_.makespan = now;
    ++ended_;
    if (const TransferRow* transfer = transferOf(step)) {
      for (const LinkId link : transfer->links) {
        ++freeSlots_[link.index()];
      }
    }
    for (const StepId next : waiting_[step]) {
      letGo(next);
    }
  }

  void letGo(StepId step) {
    if (--missing_[step] == 0) {
      asking_.insert(step);
    }
  }

  const PlacedGraph& placed_;
  const Schedule& schedule_;
  const Machine& machine_;
  SideTable<StepId, uint32_t> missing_;
  SideTable<StepId, llvm::SmallVector<StepId, 2>> waiting_; // steps that this one holds back
  std::vector<uint32_t> freeSlots_;
  std::set<StepId> asking_;         // ready but for a link
  SideTable<StepId, size_t> begun_; // the step's span
  ProcessorSharing clock_;
  size_t ended_ = 0;
  Simulation result_;
};

} // namespace

Simulation simulate(const PlacedGraph& placed, const Schedule& schedule, const Machine& machine) {
  return Simulator(placed, schedule, machine).run();
}

Simulation simulate(const Executable& plan) {
  return simulate(plan.placed(), plan.schedule(), plan.machine());
}

} // namespace dfc
