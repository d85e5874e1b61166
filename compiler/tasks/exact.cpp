#include "compiler/tasks/exact.h"

#include "compiler/tasks/least_copies.h"
#include "compiler/tasks/task_bounds.h"

#include <algorithm>
#include <cmath>

namespace dfc {
namespace {

constexpr double rounding = 1e-9; // a schedule is shorter only by more than this part
constexpr uint64_t stepsBetweenClocks = 4096;

class BranchAndBound {
 public:
  BranchAndBound(const TaskGraph& graph, TaskSchedule incumbent, uint64_t steps,
                 const std::function<bool()>& outOfTime, llvm::function_ref<bool(const TaskSchedule&)> fits)
      : graph_(graph), outOfTime_(outOfTime), fits_(fits), stepsLeft_(steps), limited_(steps > 0),
        best_(std::move(incumbent)), devices_(graph.deviceCount()),
        placed_(graph.tasks.size(), {anyDevice, 0, 0}), missing_(graph.tasks.size()),
        heads_(graph.tasks.size() * devices_), copies_(graph, false) {
    tails_ = headsAndTails(graph).tails;
    for (const TaskId task : graph.tasks.ids()) {
      const TaskRow& row = graph.tasks[task];
      missing_[task.index()] = static_cast<uint32_t>(row.predecessors.size());
      least_.push_back(*std::min_element(row.seconds.begin(), row.seconds.end()));
      workLeft_ += least_.back();
    }
    for (const uint32_t queues : graph.queues) {
      queueFree_.emplace_back(queues, 0.0);
      queueCount_ += queues;
    }
    for (const uint32_t slots : graph.linkSlots) {
      linkFree_.emplace_back(slots, 0.0);
    }
    if (graph.hasExplicitCopies()) {
      arrivals_.assign(graph.items.size() * devices_, infiniteSeconds);
    }
    findTwins();
  }

  ExactResult run() {
    search(0, 0, 0, none);
    return {std::move(best_), !stopped_};
  }

 private:
  static constexpr size_t none = 0; // as the number of the step before: any may follow

  // Devices that can be exchanged for one another; of those that are unused, one is enough to try.
  void findTwins() {
    for (uint32_t device = 0; device < devices_; ++device) {
      twinOf_.push_back(device);
      for (uint32_t other = 0; other < device && twinOf_[device] == device; ++other) {
        if (twinOf_[other] == other && areTwins(device, other)) {
          twinOf_[device] = other;
        }
      }
    }
  }

  bool areTwins(uint32_t a, uint32_t b) const {
    const auto cost = [&](uint32_t from, uint32_t to) {
      const LinkCost& one = graph_.communication[from * devices_ + to];
      return std::pair(one.latency, one.secondsPerByte);
    };
    bool alike = graph_.queues[a] == graph_.queues[b] && cost(a, b) == cost(b, a);
    for (uint32_t other = 0; other < devices_; ++other) {
      if (other != a && other != b) {
        alike &= cost(a, other) == cost(b, other) && cost(other, a) == cost(other, b);
      }
    }
    for (const TaskRow& task : graph_.tasks) {
      alike &= task.seconds[a] == task.seconds[b];
    }
    return alike && linksMatch(a, b);
  }

  // Whether exchanging the devices exchanges links one for one, and leaves those of other routes.
  bool linksMatch(uint32_t a, uint32_t b) const {
    const auto other = [&](uint32_t device) { return device == a ? b : device == b ? a : device; };
    std::vector<uint32_t> image(graph_.linkSlots.size(), anyDevice), origin = image;
    for (const TaskHop& hop : graph_.hops) {
      const auto twin = std::find_if(graph_.hops.begin(), graph_.hops.end(), [&](const TaskHop& one) {
        return one.from == other(hop.from) && one.to == other(hop.to);
      });
      if (twin == graph_.hops.end() || twin->links.size() != hop.links.size() ||
          twin->cost.latency != hop.cost.latency || twin->cost.secondsPerByte != hop.cost.secondsPerByte) {
        return false;
      }
      for (size_t i = 0; i < hop.links.size(); ++i) {
        const uint32_t from = hop.links[i], to = twin->links[i];
        if ((image[from] != anyDevice && image[from] != to) ||
            (origin[to] != anyDevice && origin[to] != from) ||
            graph_.linkSlots[from] != graph_.linkSlots[to]) {
          return false;
        }
        image[from] = to;
        origin[to] = from;
      }
    }
    return true;
  }

  bool isStopped() {
    if (stopped_) {
      return true;
    }
    if ((limited_ && stepsLeft_-- == 0) ||
        (++clock_ % stepsBetweenClocks == 0 && outOfTime_ && outOfTime_())) {
      stopped_ = true;
    }
    return stopped_;
  }

  // Steps are numbered from 1. Of steps of some duration that start at once, the order is no matter: by
  // number alone. `last`: the start of the step before; `lastStep`: its number, or none if it has no
  // duration.
  void search(size_t done, double last, double end, size_t lastStep) {
    if (done == graph_.tasks.size()) {
      keep(end);
      return;
    }
    if (isStopped() || !isPromising(last)) {
      return;
    }
    struct Step {
      double bound;
      uint32_t task, device;
    };
    std::vector<Step> steps;
    for (uint32_t task = 0; task < placed_.size(); ++task) {
      if (placed_[task].device != anyDevice || missing_[task] > 0) {
        continue;
      }
      for (uint32_t device = 0; device < devices_; ++device) {
        const double seconds = graph_.tasks[TaskId(task)].seconds[device];
        if (seconds < infiniteSeconds && !hasUnusedTwin(device)) {
          steps.push_back(
              {heads_[task * devices_ + device] + seconds + tails_[task * devices_ + device], task, device});
        }
      }
    }
    std::stable_sort(steps.begin(), steps.end(),
                     [](const Step& a, const Step& b) { return a.bound < b.bound; });
    for (const Step& step : steps) {
      tryTask(step.task, step.device, done, last, end, lastStep);
    }
    if (graph_.hasExplicitCopies()) {
      tryCopies(done, last, end, lastStep);
    }
  }

  bool hasUnusedTwin(uint32_t device) const {
    if (used(device)) {
      return false;
    }
    for (uint32_t other = 0; other < device; ++other) {
      if (twinOf_[other] == twinOf_[device] && !used(other)) {
        return true;
      }
    }
    return false;
  }
  bool used(uint32_t device) const {
    for (size_t item = 0; item * devices_ < arrivals_.size(); ++item) {
      if (arrivals_[item * devices_ + device] < infiniteSeconds) {
        return true;
      }
    }
    return std::any_of(placed_.begin(), placed_.end(),
                       [&](const TaskPlacement& placed) { return placed.device == device; });
  }

  double limit() const { return best_.makespan * (1 - rounding); }

  void tryTask(uint32_t task, uint32_t device, size_t done, double last, double end, size_t lastStep) {
    const TaskRow& row = graph_.tasks[TaskId(task)];
    double ready = graph_.begins.empty() ? 0 : graph_.begins[device];
    for (const TaskEdge& edge : row.predecessors) {
      ready = std::max(ready, arrival(edge, device));
    }
    if (ready == infiniteSeconds) {
      return; // a copy is missing
    }
    auto& queues = queueFree_[device];
    const auto queue = std::min_element(queues.begin(), queues.end());
    // A task of no duration takes no queue: it never overlaps another.
    const double seconds = row.seconds[device];
    const double start = seconds > 0 ? std::max(ready, *queue) : ready;
    const bool repeats = start == last && seconds > 0 && task + 1 < lastStep;
    if (start < last || repeats || start + seconds + tails_[task * devices_ + device] >= limit()) {
      return;
    }
    const double free = *queue;
    *queue = seconds > 0 ? start + seconds : free;
    placed_[task] = {device, start, start + seconds};
    workLeft_ -= least_[task];
    for (const TaskEdge& edge : row.successors) {
      --missing_[edge.other.index()];
      if (graph_.hasExplicitCopies()) {
        arrivals_[edge.item.index() * devices_ + device] = start + seconds;
      }
    }
    search(done + 1, start, std::max(end, start + seconds), seconds > 0 ? task + 1 : none);
    for (const TaskEdge& edge : row.successors) {
      ++missing_[edge.other.index()];
      if (graph_.hasExplicitCopies()) {
        arrivals_[edge.item.index() * devices_ + device] = infiniteSeconds;
      }
    }
    workLeft_ += least_[task];
    placed_[task].device = anyDevice;
    if (seconds > 0) {
      *std::find(queues.begin(), queues.end(), start + seconds) = free;
    }
  }

  double arrival(const TaskEdge& edge, uint32_t device) const {
    if (graph_.hasExplicitCopies()) {
      return arrivals_[edge.item.index() * devices_ + device];
    }
    const TaskPlacement& made = placed_[edge.other.index()];
    return made.end + graph_.transferSeconds(made.device, device, graph_.bytesOf(edge));
  }

  void tryCopies(size_t done, double last, double end, size_t lastStep) {
    for (const ItemId item : graph_.items.ids()) {
      const TaskId source = graph_.items[item].source;
      for (uint32_t hop = 0; hop < graph_.hops.size() && placed_[source.index()].device != anyDevice; ++hop) {
        tryCopy(item, hop, done, last, end, lastStep);
      }
    }
  }

  // Whether a reader of the item, which is on the device at `there`, is still to be placed, and may end early
  // enough on that device or on one that the item reaches by further copies.
  bool isWanted(ItemId item, uint32_t device, double there) const {
    for (const TaskEdge& edge : graph_.tasks[graph_.items[item].source].successors) {
      const uint32_t reader = edge.other.index();
      if (edge.item != item || placed_[reader].device != anyDevice) {
        continue;
      }
      const double bytes = graph_.bytesOf(edge);
      for (uint32_t other = 0; other < devices_; ++other) {
        const double copies = other == device ? 0 : copies_.seconds(device, other, bytes);
        const double seconds = graph_.tasks[edge.other].seconds[other];
        if (there + copies + seconds + tails_[reader * devices_ + other] < limit()) {
          return true;
        }
      }
    }
    return false;
  }

  void tryCopy(ItemId item, uint32_t index, size_t done, double last, double end, size_t lastStep) {
    const TaskHop& hop = graph_.hops[index];
    double& there = arrivals_[item.index() * devices_ + hop.to];
    const double here = arrivals_[item.index() * devices_ + hop.from];
    if (there < infiniteSeconds || here == infiniteSeconds || hasUnusedTwin(hop.to)) {
      return;
    }
    const double seconds = hop.cost.seconds(graph_.items[item].bytes);
    const llvm::ArrayRef<uint32_t> links =
        seconds > 0 ? llvm::ArrayRef<uint32_t>(hop.links) : llvm::ArrayRef<uint32_t>();
    double start = here;
    for (const uint32_t link : links) {
      start = std::max(start, *std::min_element(linkFree_[link].begin(), linkFree_[link].end()));
    }
    const size_t step = 1 + placed_.size() + item.index() * graph_.hops.size() + index;
    const bool repeats = start == last && seconds > 0 && step < lastStep;
    if (start < last || repeats || start + seconds >= limit() || !isWanted(item, hop.to, start + seconds)) {
      return;
    }
    llvm::SmallVector<double, 2> free;
    for (const uint32_t link : links) {
      auto slot = std::min_element(linkFree_[link].begin(), linkFree_[link].end());
      free.push_back(*slot);
      *slot = start + seconds;
    }
    there = start + seconds;
    transfers_.push_back({item, index, start, start + seconds});
    search(done, start, end, seconds > 0 ? step : none);
    transfers_.pop_back();
    arrivals_[item.index() * devices_ + hop.to] = infiniteSeconds;
    for (size_t i = 0; i < links.size(); ++i) {
      auto& slots = linkFree_[links[i]];
      *std::find(slots.begin(), slots.end(), start + seconds) = free[i];
    }
  }

  // Heads of the tasks that are left, by device, from those that are placed; no task starts before `last`.
  bool isPromising(double last) {
    double idle = 0;
    for (uint32_t device = 0; device < devices_; ++device) {
      for (const double time : queueFree_[device]) {
        idle += std::max(time, last);
      }
    }
    if ((idle + workLeft_) / queueCount_ >= limit()) {
      return false;
    }
    for (uint32_t task = 0; task < placed_.size(); ++task) {
      if (placed_[task].device == anyDevice && headsOf(task, last) >= limit()) {
        return false;
      }
    }
    return true;
  }

  // Fills the heads of one task; the least of its chains through it.
  double headsOf(uint32_t task, double last) {
    double shortest = infiniteSeconds;
    const TaskRow& row = graph_.tasks[TaskId(task)];
    for (uint32_t device = 0; device < devices_; ++device) {
      const double free = *std::min_element(queueFree_[device].begin(), queueFree_[device].end());
      double head = row.seconds[device] > 0 ? std::max(last, free) : last;
      for (const TaskEdge& edge : row.predecessors) {
        head = std::max(head, leastArrival(edge, device));
      }
      heads_[task * devices_ + device] = head;
      shortest = std::min(shortest, head + row.seconds[device] + tails_[task * devices_ + device]);
    }
    return shortest;
  }

  double leastArrival(const TaskEdge& edge, uint32_t device) const {
    const uint32_t source = edge.other.index();
    const double bytes = graph_.bytesOf(edge);
    double least = infiniteSeconds;
    if (placed_[source].device != anyDevice) {
      if (!graph_.hasExplicitCopies()) {
        return arrival(edge, device);
      }
      for (uint32_t from = 0; from < devices_; ++from) {
        const double there = arrivals_[edge.item.index() * devices_ + from];
        least =
            there < infiniteSeconds ? std::min(least, there + copies_.seconds(from, device, bytes)) : least;
      }
      return least;
    }
    const auto& seconds = graph_.tasks[edge.other].seconds;
    for (uint32_t from = 0; from < devices_; ++from) {
      least = std::min(least, heads_[source * devices_ + from] + seconds[from] +
                                  copies_.seconds(from, device, bytes));
    }
    return least;
  }

  void keep(double end) {
    if (end >= limit()) {
      return;
    }
    TaskSchedule found;
    found.makespan = end;
    found.tasks = SideTable<TaskId, TaskPlacement>(placed_.size());
    for (const TaskId task : graph_.tasks.ids()) {
      found.tasks[task] = placed_[task.index()];
    }
    found.transfers = transfers_;
    if (fits_(found)) {
      best_ = std::move(found);
    }
  }

  const TaskGraph& graph_;
  const std::function<bool()>& outOfTime_;
  llvm::function_ref<bool(const TaskSchedule&)> fits_;
  uint64_t stepsLeft_, clock_ = 0;
  bool limited_, stopped_ = false;
  TaskSchedule best_;
  size_t devices_;
  std::vector<TaskPlacement> placed_;
  std::vector<uint32_t> missing_, twinOf_;
  std::vector<double> heads_, tails_, least_, arrivals_;
  std::vector<std::vector<double>> queueFree_, linkFree_;
  std::vector<TaskTransfer> transfers_;
  LeastCopies copies_;
  double workLeft_ = 0, queueCount_ = 0;
};

} // namespace

size_t mostTasksForExact(const TaskGraph& graph) {
  return graph.hasExplicitCopies() ? mostExactTasksWithCopies : mostExactTasks;
}

ExactResult exactSchedule(const TaskGraph& graph, TaskSchedule incumbent, uint64_t steps,
                          const std::function<bool()>& outOfTime,
                          llvm::function_ref<bool(const TaskSchedule&)> fits) {
  return BranchAndBound(graph, std::move(incumbent), steps, outOfTime, fits).run();
}

} // namespace dfc
