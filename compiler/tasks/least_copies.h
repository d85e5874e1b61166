// LeastCopies: how long a copy takes at least, over whatever chain of routes.
#pragma once

#include "compiler/tasks/task_graph.h"

namespace dfc {

/// The least latency and the least seconds a byte between two devices, each over any chain of copies.
class LeastCopies {
 public:
  explicit LeastCopies(const TaskGraph& graph);
  /// Infinite where no chain joins the devices.
  double seconds(size_t from, size_t to, double bytes) const {
    const LinkCost& cost = costs_[from * devices_ + to];
    return cost.latency == infiniteSeconds ? infiniteSeconds : cost.seconds(bytes);
  }
  /// With many devices, copies between all of them are taken to be as fast as the fastest.
  bool uniform() const { return devices_ > mostDevicesByPair; }

 private:
  static constexpr size_t mostDevicesByPair = 16;
  void closeChains();
  void makeUniform();
  size_t devices_;
  std::vector<LinkCost> costs_;
};

} // namespace dfc
