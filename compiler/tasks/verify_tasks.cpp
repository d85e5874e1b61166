#include "compiler/tasks/verify_tasks.h"

#include <fmt/format.h>
#include <llvm/ADT/DenseMap.h>

#include <algorithm>
#include <cmath>
#include <queue>
#include <tuple>

namespace dfc {
namespace {

constexpr size_t mostErrors = 20;

struct Occupied {
  double start, end;
};

class TaskVerifier {
 public:
  TaskVerifier(const TaskGraph& graph, const TaskSchedule& schedule)
      : graph_(graph), schedule_(schedule), tolerance_(1e-9 * std::max(1.0, schedule.makespan)),
        onDevice_(graph.deviceCount()), onLink_(graph.linkSlots.size()) {}

  Diagnostics run() {
    if (schedule_.tasks.size() != graph_.tasks.size()) {
      fail("not every task is scheduled");
      return errors_;
    }
    for (const TaskId task : graph_.tasks.ids()) {
      checkTask(task);
    }
    if (errors_.empty()) {
      checkTransfers();
      for (const TaskId task : graph_.tasks.ids()) {
        checkData(task);
      }
    }
    checkOccupation("device", onDevice_, graph_.queues);
    checkOccupation("link", onLink_, graph_.linkSlots);
    return errors_;
  }

 private:
  void fail(std::string message) {
    if (errors_.size() < mostErrors) {
      errors_.push_back(errorWithoutPlace(std::move(message)));
    }
  }

  void checkTask(TaskId task) {
    const TaskPlacement& placed = schedule_.tasks[task];
    if (placed.device >= graph_.deviceCount() || !std::isfinite(graph_.tasks[task].seconds[placed.device])) {
      fail(fmt::format("task {} is on a device where it cannot run", task.index()));
      return;
    }
    const double begin = graph_.begins.empty() ? 0 : graph_.begins[placed.device];
    if (!graph_.tasks[task].floating && !(placed.start >= begin - tolerance_)) {
      fail(fmt::format("task {} starts at {}, before its device begins", task.index(), placed.start));
    }
    if (!(placed.end - placed.start >= graph_.tasks[task].seconds[placed.device] - tolerance_)) {
      fail(fmt::format("task {} takes {} s, less than it needs", task.index(), placed.end - placed.start));
    }
    if (placed.end > schedule_.makespan + tolerance_) {
      fail(fmt::format("task {} ends after the makespan", task.index()));
    }
    onDevice_[placed.device].push_back({placed.start, placed.end});
  }

  void checkTransfers() {
    std::vector<const TaskTransfer*> inOrder;
    for (const TaskTransfer& transfer : schedule_.transfers) {
      inOrder.push_back(&transfer);
    }
    std::stable_sort(inOrder.begin(), inOrder.end(),
                     [](const auto* a, const auto* b) { return a->start < b->start; });
    for (const TaskTransfer* transfer : inOrder) {
      const TaskHop& hop = graph_.hops[transfer->hop];
      if (!(transfer->end - transfer->start >=
            hop.cost.seconds(graph_.items[transfer->item].bytes) - tolerance_)) {
        fail(fmt::format("a copy of item {} takes less than it needs", transfer->item.index()));
      }
      if (!(transfer->start >= arrival(transfer->item, hop.from) - tolerance_)) {
        fail(fmt::format("a copy of item {} starts before the item is there", transfer->item.index()));
      }
      double& there = arrivals_.try_emplace({transfer->item.index(), hop.to}, transfer->end).first->second;
      there = std::min(there, transfer->end);
      for (const uint32_t link : hop.links) {
        onLink_[link].push_back({transfer->start, transfer->end});
      }
    }
  }

  double arrival(ItemId item, uint32_t device) const {
    const TaskPlacement& source = schedule_.tasks[graph_.items[item].source];
    if (source.device == device) {
      return source.end;
    }
    if (!graph_.hasExplicitCopies()) {
      return source.end + graph_.transferSeconds(source.device, device, graph_.items[item].bytes);
    }
    const auto found = arrivals_.find({item.index(), device});
    return found == arrivals_.end() ? std::numeric_limits<double>::infinity() : found->second;
  }

  void checkData(TaskId task) {
    const TaskPlacement& placed = schedule_.tasks[task];
    for (const TaskEdge& edge : graph_.tasks[task].predecessors) {
      if (!(placed.start >= arrival(edge.item, placed.device) - tolerance_)) {
        fail(fmt::format("task {} starts at {} before the data of task {} is there", task.index(),
                         placed.start, edge.other.index()));
      }
    }
  }

  template <class Capacities>
  void checkOccupation(const char* what, std::vector<std::vector<Occupied>>& all,
                       const Capacities& capacities) {
    for (size_t i = 0; i < all.size(); ++i) {
      std::sort(all[i].begin(), all[i].end(),
                [](const Occupied& a, const Occupied& b) { return a.start < b.start; });
      std::priority_queue<double, std::vector<double>, std::greater<>> ends;
      for (const Occupied& one : all[i]) {
        if (one.end - one.start <= tolerance_) {
          continue;
        }
        while (!ends.empty() && ends.top() <= one.start + tolerance_) {
          ends.pop();
        }
        ends.push(one.end);
        if (ends.size() > capacities[i]) {
          fail(fmt::format("{} {} does more than {} at once at {}", what, i, capacities[i], one.start));
          break;
        }
      }
    }
  }

  const TaskGraph& graph_;
  const TaskSchedule& schedule_;
  double tolerance_;
  std::vector<std::vector<Occupied>> onDevice_, onLink_;
  llvm::DenseMap<std::pair<uint32_t, uint32_t>, double> arrivals_; // by item and device, of copies
  Diagnostics errors_;
};

} // namespace

Diagnostics verifyTaskSchedule(const TaskGraph& graph, const TaskSchedule& schedule) {
  return TaskVerifier(graph, schedule).run();
}

std::vector<double> peakBytes(const TaskGraph& graph, const TaskSchedule& schedule) {
  llvm::DenseMap<std::pair<uint32_t, uint32_t>, Occupied> lives; // by item and device
  for (const ItemId item : graph.items.ids()) {
    const TaskPlacement& source = schedule.tasks[graph.items[item].source];
    lives[{item.index(), source.device}] = {source.start, source.end};
  }
  for (const TaskTransfer& transfer : schedule.transfers) {
    const TaskHop& hop = graph.hops[transfer.hop];
    Occupied& there =
        lives.try_emplace({transfer.item.index(), hop.to}, Occupied{transfer.start, transfer.end})
            .first->second;
    there.start = std::min(there.start, transfer.start);
    there.end = std::max(there.end, transfer.end);
    const auto source = lives.find({transfer.item.index(), hop.from});
    if (source != lives.end()) {
      source->second.end = std::max(source->second.end, transfer.end);
    }
  }
  for (const TaskId task : graph.tasks.ids()) {
    for (const TaskEdge& edge : graph.tasks[task].predecessors) {
      const auto life = lives.find({edge.item.index(), schedule.tasks[task].device});
      if (life != lives.end()) {
        life->second.end = std::max(life->second.end, schedule.tasks[task].end);
      }
    }
  }
  std::vector<std::vector<std::tuple<double, int, double>>> events(graph.deviceCount());
  for (const auto& [key, life] : lives) {
    const double bytes = graph.items[ItemId(key.first)].bytes;
    events[key.second].emplace_back(life.start, 1, bytes);
    events[key.second].emplace_back(life.end, 0, -bytes);
  }
  std::vector<double> peaks;
  for (auto& ofDevice : events) {
    std::sort(ofDevice.begin(), ofDevice.end());
    double now = 0, peak = 0;
    for (const auto& [time, begins, bytes] : ofDevice) {
      now += bytes;
      peak = std::max(peak, now);
    }
    peaks.push_back(peak);
  }
  return peaks;
}

} // namespace dfc
