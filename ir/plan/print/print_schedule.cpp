// printSchedule: see print.h. A block a queue, a line a step.
#include "ir/author/text/quote.h"
#include "ir/author/text/units.h"
#include "ir/plan/print/print.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace dfc {
namespace {

class SchedulePrinter {
 public:
  SchedulePrinter(const Schedule& schedule, const PlacedGraph& placed, const Machine& machine)
      : schedule_(schedule), placed_(placed), machine_(machine) {
    for (const StepRow& step : schedule.steps) {
      width_ = std::max(width_, std::min<size_t>(nameOf(step).size(), 40));
    }
  }

  std::string print() && {
    out_ =
        fmt::format("schedule of {} on {}: {}, makespan {}\n", text::written(placed_.graph.name()),
                    machine_.name, counted(schedule_.steps.size(), "step"), humanSeconds(schedule_.makespan));
    printBounds();
    for (const QueueId queue : schedule_.queues.ids()) {
      printQueue(queue);
    }
    return std::move(out_);
  }

 private:
  std::string nameOf(const StepRow& step) const { return text::written(placed_.graph.nameOf(step.op)); }
  double share(double seconds) const {
    return schedule_.makespan > 0 ? 100 * seconds / schedule_.makespan : 0;
  }

  void printBounds() {
    const LowerBounds& bounds = schedule_.bounds;
    out_ +=
        fmt::format("no schedule is shorter than {} (critical path {}, busiest queue {}, busiest link {})\n",
                    humanSeconds(bounds.best()), humanSeconds(bounds.criticalPath),
                    humanSeconds(bounds.busiestQueue), humanSeconds(bounds.busiestLink));
    if (bounds.best() > 0) {
      out_ += fmt::format("this one is {:.1f} % longer\n", 100 * (schedule_.makespan / bounds.best() - 1));
    }
  }

  void printQueue(QueueId queue) {
    const QueueRow& row = schedule_.queues[queue];
    double busy = 0;
    for (const StepId step : row.steps) {
      busy += schedule_.steps[step].end - schedule_.steps[step].start;
    }
    out_ += fmt::format("\n{}: {}, busy {} ({:.0f} %)\n", schedule_.nameOf(queue, machine_),
                        counted(row.steps.size(), "step"), humanSeconds(busy), share(busy));
    for (const StepId step : row.steps) {
      printStep(schedule_.steps[step]);
    }
  }

  void printStep(const StepRow& step) {
    std::vector<std::string> waits;
    for (const StepId wait : step.waits) {
      const StepRow& other = schedule_.steps[wait];
      waits.push_back(fmt::format("{} ({})", nameOf(other), schedule_.nameOf(other.queue, machine_)));
    }
    std::string line =
        fmt::format("  {:>8} to {:>8}  {:{}}  {}", humanSeconds(step.start), humanSeconds(step.end),
                    nameOf(step), width_, dfc::nameOf(placed_.graph[step.op].kind()));
    if (!waits.empty()) {
      line += fmt::format(", after {}", fmt::join(waits, ", "));
    }
    if (step.slowed > 0) {
      line += fmt::format(", slowed by {}", humanSeconds(step.slowed));
    }
    out_ += line + '\n';
  }

  const Schedule& schedule_;
  const PlacedGraph& placed_;
  const Machine& machine_;
  size_t width_ = 0;
  std::string out_;
};

} // namespace

std::string printSchedule(const Schedule& schedule, const PlacedGraph& placed, const Machine& machine) {
  return SchedulePrinter(schedule, placed, machine).print();
}

} // namespace dfc
