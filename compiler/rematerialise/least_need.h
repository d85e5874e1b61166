// LeastNeed: of placements that do not fit into memory, the one that exceeds it least, for the error that
// says so.
#pragma once

#include "compiler/rematerialise/step_order.h"

#include <limits>
#include <optional>

namespace dfc {

class LeastNeed {
 public:
  /// `use`: the memory that it needs over the capacity, on the device where that is the largest.
  void note(const Placement& placement, double use) {
    if (use < use_) {
      use_ = use;
      placement_ = placement;
    }
  }
  void note(LeastNeed other) {
    if (other.use_ < use_) {
      *this = std::move(other);
    }
  }
  const std::optional<Placement>& placement() const { return placement_; }
  double use() const { return use_; }

 private:
  double use_ = std::numeric_limits<double>::infinity();
  std::optional<Placement> placement_;
};

/// Of a step in that order, resident values included.
double needOf(const StepOrder& order, const Machine& machine);

} // namespace dfc
