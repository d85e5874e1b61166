// verifyPrediction: what a plan claims to prove and to predict follows from its steps' own seconds. The lower
// bounds are computed anew: a chain takes the sum of its seconds; a queue, a device that steps share and a
// link take at least what Jackson's preemptive schedule takes (Jackson 1955; Carlier 1982). Steps that run at
// once on a device, or that move bytes of one CPU's memory, and want more than all of it are slowed down as
// processor sharing has it (Kleinrock 1967).
//
// Assumes stages that `verifyStages` has passed. Written apart from compiler/schedule, which it checks.
#include "ir/verify/verify.h"

#include "ir/plan/feeds.h"
#include "ir/plan/memory_traffic.h"
#include "ir/verify/parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <queue>

namespace dfc {
namespace {

/// A step as one resource sees it.
struct Piece {
  double head = 0; ///< seconds before it at least
  double work = 0; ///< seconds of the resource
  double tail = 0; ///< seconds behind it at least
};

/// The least end of the last tail on a resource that may interrupt one piece for another: it always works on
/// the piece with the longest tail.
double leastEnd(std::vector<Piece> pieces) {
  std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) { return a.head < b.head; });
  std::priority_queue<std::pair<double, double>> waiting; // tail, work that is left
  double now = 0, last = 0;
  size_t next = 0;
  while (next < pieces.size() || !waiting.empty()) {
    now = waiting.empty() ? std::max(now, pieces[next].head) : now;
    for (; next < pieces.size() && pieces[next].head <= now; ++next) {
      waiting.emplace(pieces[next].tail, pieces[next].work);
    }
    const auto [tail, work] = waiting.top();
    waiting.pop();
    const double until = next < pieces.size() ? pieces[next].head : now + work;
    if (now + work <= until) {
      now += work;
      last = std::max(last, now + tail);
    } else {
      waiting.emplace(tail, work - (until - now));
      now = until;
    }
  }
  return last;
}

class PredictionVerifier {
 public:
  PredictionVerifier(const PlacedGraph& placed, const Schedule& schedule, const Machine& machine)
      : placed_(placed), graph_(placed.graph), schedule_(schedule), machine_(machine), findings_(graph_),
        seconds_(schedule.steps.size()), slack_(1e-7 * schedule.makespan) {
    for (const StepId step : schedule.steps.ids()) {
      seconds_[step] = schedule.steps[step].alone();
    }
  }

  Diagnostics run() {
    findBefore();
    findChains();
    compare("critical path", schedule_.bounds.criticalPath, longestChain());
    compare("busiest queue", schedule_.bounds.busiestQueue, busiestQueue());
    compare("busiest link", schedule_.bounds.busiestLink, busiestLink());
    checkSharing();
    checkSteadyStep();
    return findings_.take();
  }

 private:
  double seconds(StepId step) const { return seconds_[step]; }
  MemoryTraffic trafficOf(StepId step) const {
    return memoryTraffic(placed_, schedule_.steps[step].op, seconds(step), machine_);
  }

  void compare(std::string_view what, double claimed, double found) {
    if (!(std::abs(claimed - found) <= slack_)) {
      findings_.add(fmt::format("the lower bound by the {} is said to be {} seconds, but the steps give {}",
                                what, claimed, found));
    }
  }

  void findBefore() {
    before_.resize(schedule_.steps.size());
    const auto add = [&](OpId first, OpId second) {
      if (schedule_.stepOf[first].valid() && schedule_.stepOf[second].valid()) {
        before_[schedule_.stepOf[second]].push_back(schedule_.stepOf[first]);
      }
    };
    for (const OpId op : graph_.ops()) {
      for (const ValueId operand : graph_[op].operands) {
        add(graph_[operand].producer, op);
      }
    }
    for (const Ordering& ordering : placed_.orderings) {
      add(ordering.before, ordering.after);
    }
  }

  // The same bounds where feeds are staged and prefetched before their step.
  void checkSteadyStep() {
    FeedTimes feeds = feedTimes(placed_, schedule_, machine_);
    if (feeds.any) {
      seconds_ = std::move(feeds.inStep);
      findChains();
    }
    const double inStep = std::max({longestChain(), busiestQueue(), busiestLink()});
    compare("steady state", schedule_.steady.bound,
            std::min(schedule_.makespan, std::max(inStep, feeds.outside)));
  }

  void findChains() {
    heads_ = tails_ = SideTable<StepId, double>(schedule_.steps.size());
    computations_.clear();
    byLink_.clear();
    byMemory_.clear();
    copies_.clear();
    findHeads();
    findTails();
  }

  // Step ids are a topological order.
  void findHeads() {
    for (const StepId step : schedule_.steps.ids()) {
      const QueueRow& queue = schedule_.queues[schedule_.steps[step].queue];
      heads_[step] = machine_.devices[queue.device].stepOverheadSeconds;
      for (const StepId before : before_[step]) {
        heads_[step] = std::max(heads_[step], heads_[before] + seconds(before));
      }
      if (queue.kind == QueueKind::Compute) {
        computations_[queue.device.index()].push_back(step);
      } else {
        copies_[{queue.device.index(), queue.kind}].push_back(step);
      }
      if (const MemoryTraffic traffic = trafficOf(step); traffic.device.valid()) {
        byMemory_[traffic.device.index()].push_back(step);
      }
      const auto transfer = placed_.transfers.find(schedule_.steps[step].op);
      if (transfer != placed_.transfers.end()) {
        for (const LinkId link : transfer->second.links) {
          byLink_[link.index()].push_back(step);
        }
      }
    }
  }

  void findTails() {
    for (uint32_t i = static_cast<uint32_t>(schedule_.steps.size()); i-- > 0;) {
      const StepId step(i);
      for (const StepId before : before_[step]) {
        tails_[before] = std::max(tails_[before], seconds(step) + tails_[step]);
      }
    }
  }

  double longestChain() const {
    double longest = 0;
    for (const StepId step : schedule_.steps.ids()) {
      longest = std::max(longest, heads_[step] + seconds(step) + tails_[step]);
    }
    return longest;
  }

  /// `share`: of each second of a step, how much is the resource's.
  template <class Share>
  double bound(const std::vector<StepId>& steps, const Share& share) const {
    std::vector<Piece> pieces;
    for (const StepId step : steps) {
      const double work = seconds(step) * share(step);
      if (work > 0) {
        pieces.push_back({heads_[step], work, tails_[step]});
      }
    }
    return leastEnd(std::move(pieces));
  }

  double busiestQueue() const {
    double most = 0;
    for (const auto& [device, steps] : computations_) {
      const auto queues = std::count_if(
          schedule_.queues.begin(), schedule_.queues.end(), [device = device](const QueueRow& queue) {
            return queue.device.index() == device && queue.kind == QueueKind::Compute;
          });
      const double each = 1.0 / static_cast<double>(queues);
      most = std::max(most, bound(steps, [&](StepId) { return each; }));
      if (queues > 1) {
        most = std::max(most, bound(steps, [&](StepId step) { return schedule_.steps[step].utilisation; }));
      }
    }
    for (const auto& [queue, steps] : copies_) {
      most = std::max(most, bound(steps, [](StepId) { return 1.0; }));
    }
    for (const auto& [device, steps] : byMemory_) {
      most = std::max(most, bound(steps, [&](StepId step) { return trafficOf(step).share; }));
    }
    return most;
  }

  double busiestLink() const {
    double most = 0;
    for (const auto& [link, steps] : byLink_) {
      const uint32_t slots = machine_.links[LinkId(link)].slots;
      if (slots > 0) {
        most = std::max(most, bound(steps, [&](StepId) { return 1.0 / slots; }));
      }
    }
    return most;
  }

  /// A step while it runs, with the parts of the resources that it wants; none of a resource: nothing of it.
  struct Running {
    StepId step;
    double left = 0;
    uint32_t device = 0;
    double utilisation = 0;
    MemoryTraffic traffic = {};
  };

  Running begun(StepId step) const {
    const StepRow& row = schedule_.steps[step];
    const uint32_t device = schedule_.queues[row.queue].device.index();
    return {step, seconds(step), device, row.utilisation, trafficOf(step)};
  }

  /// The speeds at which they run, by what all of them want.
  std::vector<double> speedsOf(const std::vector<Running>& running) const {
    std::vector<double> device(machine_.devices.size(), 0), memory(machine_.devices.size(), 0), speeds;
    for (const Running& row : running) {
      device[row.device] += row.utilisation;
      if (row.traffic.device.valid()) {
        memory[row.traffic.device.index()] += row.traffic.share;
      }
    }
    for (const Running& row : running) {
      double most = row.utilisation > 0 ? device[row.device] : 1;
      if (row.traffic.device.valid()) {
        most = std::max(most, memory[row.traffic.device.index()]);
      }
      speeds.push_back(most > 1 ? 1 / most : 1);
    }
    return speeds;
  }

  /// Steps end when sharing devices and memories lets them. Their ids follow their starts.
  void checkSharing() {
    std::vector<Running> running;
    std::vector<double> speeds;
    double now = 0;
    uint32_t next = 0;
    const auto count = static_cast<uint32_t>(schedule_.steps.size());
    while (next < count || !running.empty()) {
      double until =
          next < count ? schedule_.steps[StepId(next)].start : std::numeric_limits<double>::infinity();
      size_t ends = running.size();
      for (size_t i = 0; i < running.size(); ++i) {
        const double end = now + running[i].left / speeds[i];
        if (end <= until) {
          until = end;
          ends = i;
        }
      }
      if (!std::isfinite(until)) {
        findings_.at(schedule_.steps[running.front().step].op,
                     fmt::format("op '{}' and the steps that run beside it take more seconds than a number "
                                 "holds",
                                 graph_.nameOf(schedule_.steps[running.front().step].op)));
        return;
      }
      for (size_t i = 0; i < running.size(); ++i) {
        running[i].left -= (until - now) * speeds[i];
      }
      now = until;
      if (ends == running.size()) {
        running.push_back(begun(StepId(next++)));
      } else {
        checkEnd(running[ends].step, now);
        running.erase(running.begin() + static_cast<std::ptrdiff_t>(ends));
      }
      speeds = speedsOf(running);
    }
  }

  void checkEnd(StepId step, double end) {
    const StepRow& row = schedule_.steps[step];
    if (!(std::abs(end - row.end) <= slack_)) {
      findings_.at(row.op,
                   fmt::format("op '{}' is predicted to end at {} seconds, but by the utilisation of its "
                               "device and memory it ends at {}",
                               graph_.nameOf(row.op), row.end, end));
    }
  }

  const PlacedGraph& placed_;
  const Graph& graph_;
  const Schedule& schedule_;
  const Machine& machine_;
  Findings findings_;
  SideTable<StepId, llvm::SmallVector<StepId, 4>> before_;
  SideTable<StepId, double> seconds_, heads_, tails_;
  std::map<uint32_t, std::vector<StepId>> computations_, byLink_, byMemory_; // by device; by link
  std::map<std::pair<uint32_t, QueueKind>, std::vector<StepId>> copies_;
  double slack_; // for rounding: seconds of a step are a difference of two times
};

} // namespace

Diagnostics verifyPrediction(const PlacedGraph& placed, const Schedule& schedule, const Machine& machine) {
  return PredictionVerifier(placed, schedule, machine).run();
}

} // namespace dfc
