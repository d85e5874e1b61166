#include "compiler/simulate/simulate.h"

#include <algorithm>
#include <limits>
#include <queue>
#include <set>

namespace dfc {
namespace {

class Simulator {
 public:
  explicit Simulator(const Executable& plan)
      : plan_(plan), schedule_(plan.schedule()), missing_(schedule_.steps.size()),
        waiting_(schedule_.steps.size()) {
    result_.busy = SideTable<QueueId, double>(schedule_.queues.size());
    result_.linkBusy = SideTable<LinkId, double>(plan.machine().links.size());
    for (const LinkRow& link : plan.machine().links) {
      freeSlots_.push_back(link.slots == 0 ? std::numeric_limits<uint32_t>::max() : link.slots);
    }
  }

  Simulation run() {
    for (const StepId step : schedule_.steps.ids()) {
      countWaits(step);
    }
    startAsking(0);
    while (!running_.empty()) {
      const double now = running_.top().first;
      while (!running_.empty() && running_.top().first == now) {
        end(running_.top().second);
        running_.pop();
      }
      startAsking(now);
    }
    DFC_ASSERT(result_.trace.spans.size() == schedule_.steps.size(), "a verified schedule has no deadlock");
    result_.makespan = result_.trace.makespan();
    return std::move(result_);
  }

 private:
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

  const TransferRow* transferOf(StepId step) const {
    const auto found = plan_.placed().transfers.find(schedule_.steps[step].op);
    return found == plan_.placed().transfers.end() ? nullptr : &found->second;
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
    const double seconds = row.end - row.start;
    if (const TransferRow* transfer = transferOf(step)) {
      const bool free = std::all_of(transfer->links.begin(), transfer->links.end(),
                                    [&](LinkId link) { return freeSlots_[link.index()] > 0; });
      if (!free) {
        return false;
      }
      for (const LinkId link : transfer->links) {
        --freeSlots_[link.index()];
        result_.linkBusy[link] += seconds;
      }
    }
    result_.busy[row.queue] += seconds;
    result_.trace.spans.push_back({step, 0, now, now + seconds});
    running_.emplace(now + seconds, step);
    return true;
  }

  void end(StepId step) {
    if (const TransferRow* transfer = transferOf(step)) {
      for (const LinkId link : transfer->links) {
        ++freeSlots_[link.index()];
      }
    }
    for (const StepId next : waiting_[step]) {
      if (--missing_[next] == 0) {
        asking_.insert(next);
      }
    }
  }

  using Event = std::pair<double, StepId>;
  const Executable& plan_;
  const Schedule& schedule_;
  SideTable<StepId, uint32_t> missing_;
  SideTable<StepId, llvm::SmallVector<StepId, 2>> waiting_; // steps that this one holds back
  std::vector<uint32_t> freeSlots_;
  std::set<StepId> asking_; // ready but for a link
  std::priority_queue<Event, std::vector<Event>, std::greater<>> running_;
  Simulation result_;
};

} // namespace

Simulation simulate(const Executable& plan) { return Simulator(plan).run(); }

} // namespace dfc
