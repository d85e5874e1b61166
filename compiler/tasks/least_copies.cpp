#include "compiler/tasks/least_copies.h"

#include <algorithm>
#include <cmath>

namespace dfc {
namespace {

void lower(LinkCost& cost, const LinkCost& other) {
  if (std::isfinite(other.latency)) {
    cost.latency = std::min(cost.latency, other.latency);
    cost.secondsPerByte = std::min(cost.secondsPerByte, other.secondsPerByte);
  }
}

} // namespace

LeastCopies::LeastCopies(const TaskGraph& graph, bool uniform)
    : devices_(graph.deviceCount()), uniform_(uniform),
      costs_(devices_ * devices_, LinkCost{infiniteSeconds, infiniteSeconds}) {
  for (size_t from = 0; from < devices_; ++from) {
    costs_[from * devices_ + from] = {};
    for (size_t to = 0; to < devices_; ++to) {
      if (from != to && !graph.hasExplicitCopies()) {
        lower(costs_[from * devices_ + to], graph.communication[from * devices_ + to]);
      }
    }
  }
  for (const TaskHop& hop : graph.hops) {
    lower(costs_[hop.from * devices_ + hop.to], hop.cost);
  }
  uniform_ ? makeUniform() : closeChains();
}

// Floyd and Warshall.
void LeastCopies::closeChains() {
  for (size_t over = 0; over < devices_; ++over) {
    for (size_t from = 0; from < devices_; ++from) {
      for (size_t to = 0; to < devices_; ++to) {
        const LinkCost &first = costs_[from * devices_ + over], &second = costs_[over * devices_ + to];
        lower(costs_[from * devices_ + to],
              {first.latency + second.latency, first.secondsPerByte + second.secondsPerByte});
      }
    }
  }
}

void LeastCopies::makeUniform() {
  LinkCost least{infiniteSeconds, infiniteSeconds};
  for (size_t from = 0; from < devices_; ++from) {
    for (size_t to = 0; to < devices_; ++to) {
      if (from != to) {
        lower(least, costs_[from * devices_ + to]);
      }
    }
  }
  for (size_t from = 0; from < devices_; ++from) {
    for (size_t to = 0; to < devices_; ++to) {
      costs_[from * devices_ + to] = from == to ? LinkCost{} : least;
    }
  }
}

} // namespace dfc
