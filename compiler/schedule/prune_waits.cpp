// Each step has a vector clock: the number of steps of each queue that are known to have ended. A wait is
// redundant exactly when the clock joined from the queue's previous step and the other waits already covers
// it, because the transitive reduction of a DAG is unique (Aho, Garey, Ullman 1972) and edges between queues
// can be judged one step at a time in topological order.
#include "compiler/schedule/prune_waits.h"

#include "ir/plan/step_clocks.h"

#include <algorithm>

namespace dfc {
namespace {

class WaitPruner {
 public:
  explicit WaitPruner(Schedule& schedule) : schedule_(schedule), clocks_(schedule) {}

  void run() {
    for (const StepId step : schedule_.steps.ids()) {
      prune(step);
    }
  }

 private:
  void prune(StepId step) {
    StepRow& row = schedule_.steps[step];
    if (row.position > 0) {
      clocks_.join(step, schedule_.queues[row.queue].steps[row.position - 1]);
    }
    // Latest first: a later step's clock may cover an earlier one, never the other way round.
    llvm::SmallVector<StepId, 4> wanted(row.waits.begin(), row.waits.end());
    std::sort(wanted.begin(), wanted.end(), std::greater<>());
    row.waits.clear();
    for (const StepId wait : wanted) {
      const StepRow& other = schedule_.steps[wait];
      if (clocks_.count(step, other.queue) <= other.position) {
        clocks_.join(step, wait);
        row.waits.push_back(wait);
      }
    }
    std::sort(row.waits.begin(), row.waits.end());
  }

  Schedule& schedule_;
  StepClocks clocks_;
};

} // namespace

void pruneWaits(Schedule& schedule) { WaitPruner(schedule).run(); }

} // namespace dfc
