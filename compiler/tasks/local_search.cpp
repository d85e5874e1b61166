#include "compiler/tasks/local_search.h"

#include "compiler/tasks/heft.h"
#include "compiler/tasks/task_bounds.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace dfc {
namespace {

constexpr size_t historyLength = 40;

class LocalSearch {
 public:
  LocalSearch(const TaskGraph& graph, const TaskCandidate& start, const SearchLimits& limits)
      : graph_(graph), limits_(limits), placer_(graph), random_(limits.seed), order_(start.order),
        best_(start) {
    for (const TaskId task : graph.tasks.ids()) {
      device_.push_back(start.schedule.tasks[task].device);
      const auto& seconds = graph.tasks[task].seconds;
      std::vector<uint32_t>& allowed = allowed_.emplace_back();
      for (uint32_t device = 0; device < seconds.size(); ++device) {
        if (seconds[device] < infiniteSeconds) {
          allowed.push_back(device);
        }
      }
    }
    findTails();
    position_.resize(order_.size());
  }

  TaskCandidate run() {
    // The order of the start may place otherwise than the start itself did: begin with what it gives.
    current_ = evaluate(device_, order_, infiniteSeconds);
    if (!std::isfinite(current_)) {
      return std::move(best_);
    }
    keep();
    std::vector<double> history(historyLength, current_);
    for (uint64_t step = 0; step < limits_.steps && best_.schedule.makespan > limits_.enough; ++step) {
      if (step % stepsBetweenClocks() == 0 && limits_.outOfTime && limits_.outOfTime()) {
        break;
      }
      double& late = history[step % historyLength];
      const double limit = std::max(current_, late);
      propose();
      const double makespan = evaluate(tried_, triedOrder_, limit * (1 + 1e-12));
      if (makespan <= limit) {
        for (size_t task = 0; task < tried_.size(); ++task) {
          tried_[task] = placer_.placements()[task].device;
        }
        device_.swap(tried_);
        order_.swap(triedOrder_);
        current_ = makespan;
        keep();
      }
      late = std::min(late, current_);
    }
    return std::move(best_);
  }

 private:
  // A look at the clock costs little beside a trial schedule of a hundred tasks.
  uint64_t stepsBetweenClocks() const { return graph_.tasks.size() < 100 ? 64 : 1; }

  void findTails() {
    const HeadsAndTails times = headsAndTails(graph_);
    const size_t devices = graph_.deviceCount();
    for (size_t task = 0; task < graph_.tasks.size(); ++task) {
      double tail = infiniteSeconds;
      for (const uint32_t device : allowed_[task]) {
        tail = std::min(tail, times.tails[task * devices + device]);
      }
      tails_.push_back(tail * (1 - 1e-9));
    }
  }

  double evaluate(llvm::ArrayRef<uint32_t> fixed, llvm::ArrayRef<TaskId> order, double limit) {
    PlacementRule rule;
    rule.fixed = fixed;
    rule.tails = tails_;
    rule.limit = limit;
    rule.copyWeight = copyWeight_;
    return placer_.run(order, rule);
  }

  // Of the placer's last run.
  void keep() {
    findCriticalTasks();
    if (current_ < best_.schedule.makespan) {
      best_.schedule = placer_.schedule();
      best_.order = order_;
    }
  }

  // Back from the last end: the task whose data, or else whose device, came last.
  void findCriticalTasks() {
    const auto placed = placer_.placements();
    uint32_t last = 0;
    for (uint32_t task = 0; task < placed.size(); ++task) {
      last = placed[task].end > placed[last].end ? task : last;
    }
    critical_.clear();
    nextOnDevice(placed);
    for (uint32_t task = last; task != anyDevice && critical_.size() <= placed.size();) {
      critical_.push_back(task);
      uint32_t before = before_[task];
      double latest = before == anyDevice ? -1 : placed[before].end;
      for (const TaskEdge& edge : graph_.tasks[TaskId(task)].predecessors) {
        const TaskPlacement& made = placed[edge.other.index()];
        const double there =
            made.end + graph_.transferSeconds(made.device, placed[task].device, graph_.bytesOf(edge));
        if (there > latest) {
          latest = there;
          before = edge.other.index();
        }
      }
      task = before;
    }
  }

  // The task that ends last before each on its device, by the order of starts.
  void nextOnDevice(llvm::ArrayRef<TaskPlacement> placed) {
    byStart_.resize(placed.size());
    for (uint32_t task = 0; task < placed.size(); ++task) {
      byStart_[task] = task;
    }
    std::sort(byStart_.begin(), byStart_.end(), [&](uint32_t a, uint32_t b) {
      return placed[a].start < placed[b].start || (placed[a].start == placed[b].start && a < b);
    });
    before_.assign(placed.size(), anyDevice);
    std::vector<uint32_t> lastOn(graph_.deviceCount(), anyDevice);
    for (const uint32_t task : byStart_) {
      before_[task] = lastOn[placed[task].device];
      lastOn[placed[task].device] = task;
    }
  }

  uint32_t draw(size_t count) { return static_cast<uint32_t>(random_() % count); }

  uint32_t drawTask() { return draw(3) > 0 ? critical_[draw(critical_.size())] : draw(graph_.tasks.size()); }

  void propose() {
    tried_ = device_;
    triedOrder_ = order_;
    copyWeight_ = 0;
    switch (draw(6)) {
    case 0: moveTask(drawTask()); break;
    case 1: moveGroup(drawTask()); break;
    case 2: moveInOrder(drawTask()); break;
    case 3: freeNeighbours(drawTask()); break;
    case 4: freeWindow(); break;
    default: moveTask(drawTask()); moveInOrder(drawTask());
    }
  }

  void moveTask(uint32_t task) { tried_[task] = allowed_[task][draw(allowed_[task].size())]; }

  // The task and those around it on its device, along edges, to the device of a neighbour or any other.
  void moveGroup(uint32_t task) {
    const uint32_t to = allowed_[task][draw(allowed_[task].size())];
    const size_t most = 2 + draw(std::min<size_t>(30, graph_.tasks.size()));
    group_.assign(1, task);
    const uint32_t from = device_[task];
    for (size_t i = 0; i < group_.size() && group_.size() < most; ++i) {
      const TaskRow& row = graph_.tasks[TaskId(group_[i])];
      for (const auto* edges : {&row.successors, &row.predecessors}) {
        for (const TaskEdge& edge : *edges) {
          const uint32_t other = edge.other.index();
          if (device_[other] == from && group_.size() < most &&
              std::find(group_.begin(), group_.end(), other) == group_.end()) {
            group_.push_back(other);
          }
        }
      }
    }
    for (const uint32_t member : group_) {
      if (graph_.tasks[TaskId(member)].seconds[to] < infiniteSeconds) {
        tried_[member] = to;
      }
    }
  }

  // To another position between its last predecessor and its first successor.
  void moveInOrder(uint32_t task) {
    for (uint32_t i = 0; i < triedOrder_.size(); ++i) {
      position_[triedOrder_[i].index()] = i;
    }
    uint32_t first = 0, last = static_cast<uint32_t>(triedOrder_.size());
    for (const TaskEdge& edge : graph_.tasks[TaskId(task)].predecessors) {
      first = std::max(first, position_[edge.other.index()] + 1);
    }
    for (const TaskEdge& edge : graph_.tasks[TaskId(task)].successors) {
      last = std::min(last, position_[edge.other.index()]);
    }
    if (first >= last) {
      return;
    }
    const uint32_t from = position_[task], to = first + draw(last - first);
    const auto begin = triedOrder_.begin();
    if (to < from) {
      std::rotate(begin + to, begin + from, begin + from + 1);
    } else {
      std::rotate(begin + from, begin + from + 1, begin + to + 1);
    }
  }

  void drawCopyWeight() { copyWeight_ = draw(2) == 0 ? 0 : 0.25 * (1 + draw(8)); }

  void freeNeighbours(uint32_t task) {
    drawCopyWeight();
    tried_[task] = anyDevice;
    const TaskRow& row = graph_.tasks[TaskId(task)];
    for (const auto* edges : {&row.successors, &row.predecessors}) {
      for (const TaskEdge& edge : *edges) {
        if (draw(2) == 0) {
          tried_[edge.other.index()] = anyDevice;
        }
      }
    }
  }

  // Tasks that are placed one after the other.
  void freeWindow() {
    drawCopyWeight();
    const size_t length = 1 + draw(std::min<size_t>(order_.size(), 24));
    const size_t first = draw(order_.size() - length + 1);
    for (size_t i = first; i < first + length; ++i) {
      tried_[order_[i].index()] = anyDevice;
    }
  }

  const TaskGraph& graph_;
  const SearchLimits& limits_;
  TaskPlacer placer_;
  std::mt19937_64 random_;
  std::vector<TaskId> order_, triedOrder_;
  std::vector<uint32_t> device_, tried_;       // by task
  std::vector<std::vector<uint32_t>> allowed_; // by task: devices
  std::vector<double> tails_;
  std::vector<uint32_t> position_, critical_, byStart_, before_, group_;
  double current_ = 0, copyWeight_ = 0;
  TaskCandidate best_;
};

} // namespace

TaskCandidate improved(const TaskGraph& graph, const TaskCandidate& start, const SearchLimits& limits) {
  return LocalSearch(graph, start, limits).run();
}

} // namespace dfc
