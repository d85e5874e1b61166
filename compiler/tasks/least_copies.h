// LeastCopies: how long a copy takes at least, over whatever chain of routes.
#pragma once

#include "compiler/tasks/task_graph.h"

namespace dfc {

/// The least latency and the least seconds a byte between two devices, each over any chain of copies.
class LeastCopies {
 public:
  /// `uniform`: see below.
  LeastCopies(const TaskGraph& graph, bool uniform);
  /// Infinite where no chain joins the devices.
  double seconds(size_t from, size_t to, double bytes) const {
    const LinkCost& cost = costs_[from * devices_ + to];
    return cost.latency == infiniteSeconds ? infiniteSeconds : cost.seconds(bytes);
  }
  /// Whether copies between all pairs are taken to be as fast as the fastest, so that less has to be
  /// compared.
  bool uniform() const { return uniform_; }

 private:
  void closeChains();
  void makeUniform();
  size_t devices_;
  bool uniform_;
  std::vector<LinkCost> costs_;
};

} // namespace dfc
