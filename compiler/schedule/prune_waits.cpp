// A vector clock a step says how many steps of each queue are known to have ended. A wait is redundant
// exactly when the clock joined from the queue's previous step and the other waits already covers it, because
// the reduction of a DAG is unique (Aho, Garey, Ullman 1972) and edges between queues can be judged one step
// at a time in topological order.
#include "compiler/schedule/prune_waits.h"

#include "ir/busy_queues.h"

#include <algorithm>

namespace dfc {
namespace {

class WaitPruner {
 public:
  explicit WaitPruner(Schedule& schedule)
      : schedule_(schedule), busy_(schedule), clocks_(schedule.steps.size() * busy_.count()) {}

  void run() {
    for (const StepId step : schedule_.steps.ids()) {
      prune(step);
    }
  }

 private:
  void prune(StepId step) {
    StepRow& row = schedule_.steps[step];
    uint32_t* clock = clockOf(step);
    if (row.position > 0) {
      join(clock, schedule_.queues[row.queue].steps[row.position - 1]);
    }
    // Latest first: a later step's clock may cover an earlier one, never the other way round.
    llvm::SmallVector<StepId, 4> wanted(row.waits.begin(), row.waits.end());
    std::sort(wanted.begin(), wanted.end(), std::greater<>());
    row.waits.clear();
    for (const StepId wait : wanted) {
      const StepRow& other = schedule_.steps[wait];
      if (clock[busy_.numberOf(other.queue)] <= other.position) {
        join(clock, wait);
        row.waits.push_back(wait);
      }
    }
    std::sort(row.waits.begin(), row.waits.end());
  }

  void join(uint32_t* clock, StepId before) {
    const uint32_t* other = clockOf(before);
    std::transform(clock, clock + busy_.count(), other, clock,
                   [](uint32_t a, uint32_t b) { return std::max(a, b); });
    uint32_t& own = clock[busy_.numberOf(schedule_.steps[before].queue)];
    own = std::max(own, schedule_.steps[before].position + 1);
  }

  uint32_t* clockOf(StepId step) { return clocks_.data() + step.index() * busy_.count(); }

  Schedule& schedule_;
  BusyQueues busy_;
  std::vector<uint32_t> clocks_;
};

} // namespace

void pruneWaits(Schedule& schedule) { WaitPruner(schedule).run(); }

} // namespace dfc
