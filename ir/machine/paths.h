// Paths: the cheapest chains of routes between the devices of a machine, for those who ask for many of them.
#pragma once

#include "ir/machine/machine.h"

namespace dfc {

class Paths {
 public:
  /// `machine` outlives this, unchanged.
  explicit Paths(const Machine& machine);
  /// `Machine::path`, in the time of the routes that leave `from` where one of them is the cheapest.
  std::optional<std::vector<Route>> path(DeviceId from, DeviceId to, int64_t bytes) const;

 private:
  const Machine& machine_;
  SideTable<DeviceId, std::vector<uint32_t>> leaving_; ///< routes, by their first device
};

} // namespace dfc
