#include "compiler/tasks/clusters.h"

#include "compiler/tasks/heft.h"
#include "compiler/tasks/task_placer.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace dfc {
namespace {

/// Disjoint sets of tasks with the work of each, in seconds on the fastest device of each task.
class Clusters {
 public:
  explicit Clusters(std::vector<double> work) : parent_(work.size()), work_(std::move(work)) {
    std::iota(parent_.begin(), parent_.end(), 0U);
  }

  uint32_t of(uint32_t task) {
    while (parent_[task] != task) {
      parent_[task] = parent_[parent_[task]];
      task = parent_[task];
    }
    return task;
  }
  void joinWithin(uint32_t a, uint32_t b, double most) {
    a = of(a);
    b = of(b);
    if (a != b && work_[a] + work_[b] <= most) {
      parent_[std::max(a, b)] = std::min(a, b);
      work_[std::min(a, b)] = work_[a] + work_[b];
    }
  }
  double workOf(uint32_t root) const { return work_[root]; }

 private:
  std::vector<uint32_t> parent_;
  std::vector<double> work_;
};

std::vector<double> leastSeconds(const TaskGraph& graph) {
  std::vector<double> least;
  for (const TaskRow& task : graph.tasks) {
    least.push_back(*std::min_element(task.seconds.begin(), task.seconds.end()));
  }
  return least;
}

struct WeightedEdge {
  double bytes;
  uint32_t from, to;
};

std::vector<WeightedEdge> heaviestFirst(const TaskGraph& graph) {
  std::vector<WeightedEdge> edges;
  for (const TaskId task : graph.tasks.ids()) {
    for (const TaskEdge& edge : graph.tasks[task].successors) {
      edges.push_back({graph.bytesOf(edge), task.index(), edge.other.index()});
    }
  }
  std::stable_sort(edges.begin(), edges.end(),
                   [](const WeightedEdge& a, const WeightedEdge& b) { return a.bytes > b.bytes; });
  return edges;
}

/// Each cluster, the largest first, to the device where it ends first.
class ClusterPlacer {
 public:
  ClusterPlacer(const TaskGraph& graph, Clusters& clusters, llvm::ArrayRef<uint32_t> devices)
      : graph_(graph), devices_(devices), load_(graph.deviceCount()) {
    std::vector<uint32_t> index(graph.tasks.size(), anyDevice);
    for (uint32_t task = 0; task < graph.tasks.size(); ++task) {
      const uint32_t root = clusters.of(task);
      if (index[root] == anyDevice) {
        index[root] = static_cast<uint32_t>(members_.size());
        members_.emplace_back();
        work_.push_back(clusters.workOf(root));
      }
      members_[index[root]].push_back(task);
    }
  }

  std::vector<uint32_t> run() {
    std::vector<size_t> order(members_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return work_[a] > work_[b]; });
    std::vector<uint32_t> placed(graph_.tasks.size(), anyDevice);
    for (const size_t cluster : order) {
      const uint32_t device = bestDevice(members_[cluster]);
      for (const uint32_t task : members_[cluster]) {
        const double seconds = secondsOn(task, device);
        if (seconds < infiniteSeconds) {
          placed[task] = device;
          load_[device] += seconds / graph_.queues[device];
        }
      }
    }
    return placed;
  }

 private:
  double secondsOn(uint32_t task, uint32_t device) const {
    return graph_.tasks[TaskId(task)].seconds[device];
  }

  uint32_t bestDevice(const std::vector<uint32_t>& tasks) const {
    std::tuple<size_t, double, uint32_t> best{std::numeric_limits<size_t>::max(), 0, 0};
    for (const uint32_t device : devices_) {
      size_t forbidden = 0;
      double end = load_[device];
      for (const uint32_t task : tasks) {
        const double seconds = secondsOn(task, device);
        forbidden += seconds < infiniteSeconds ? 0 : 1;
        end += seconds < infiniteSeconds ? seconds / graph_.queues[device] : 0;
      }
      best = std::min(best, std::tuple(forbidden, end, device));
    }
    return std::get<2>(best);
  }

  const TaskGraph& graph_;
  llvm::ArrayRef<uint32_t> devices_;
  std::vector<double> load_; // by device
  std::vector<std::vector<uint32_t>> members_;
  std::vector<double> work_; // by cluster
};

} // namespace

std::vector<uint32_t> devicesBySpeed(const TaskGraph& graph) {
  std::vector<std::tuple<size_t, double, uint32_t>> rows;
  for (uint32_t device = 0; device < graph.deviceCount(); ++device) {
    size_t forbidden = 0;
    double seconds = 0;
    for (const TaskRow& task : graph.tasks) {
      forbidden += task.seconds[device] < infiniteSeconds ? 0 : 1;
      seconds += task.seconds[device] < infiniteSeconds ? task.seconds[device] / graph.queues[device] : 0;
    }
    rows.emplace_back(forbidden, seconds, device);
  }
  std::sort(rows.begin(), rows.end());
  std::vector<uint32_t> devices;
  for (const auto& row : rows) {
    devices.push_back(std::get<2>(row));
  }
  return devices;
}

std::vector<uint32_t> clusteredPlacement(const TaskGraph& graph, double share, size_t devices) {
  std::vector<double> work = leastSeconds(graph);
  const double most = std::accumulate(work.begin(), work.end(), 0.0) * share;
  Clusters clusters(std::move(work));
  for (const WeightedEdge& edge : heaviestFirst(graph)) {
    clusters.joinWithin(edge.from, edge.to, most);
  }
  const std::vector<uint32_t> order = devicesBySpeed(graph);
  return ClusterPlacer(graph, clusters, llvm::ArrayRef(order).take_front(devices)).run();
}

} // namespace dfc
