// Calibration of links: times of copies between the devices of a machine that are here.
#pragma once

#include "ir/machine/calibration.h"
#include "ir/machine/machine.h"
#include "runtime/session.h"

#include <llvm/ADT/STLFunctionalExtras.h>

#include <string>
#include <vector>

namespace dfc::tool {

/// What became of a class of links: those between devices of two models.
struct TimedLink {
  std::string from, to;              ///< the devices whose link was timed
  size_t copies = 0;                 ///< sizes
  double latency = 0, bandwidth = 0; ///< of the smallest copy, and of the largest beyond that
  bool timed() const { return copies > 0; }
};

/// Times copies of several sizes over one route of each class, both of whose ends are `here`, into the tables
/// of their sources. Throws MachineError.
std::vector<TimedLink> timeLinks(const Machine& machine, const SessionOptions& options,
                                 llvm::function_ref<bool(DeviceId)> here, std::vector<Calibration>& tables);

/// The machine's classes of links that no table has times of: "gpu0 to gpu1", a route of each.
std::vector<std::string> untimedLinks(const Machine& machine, const std::vector<Calibration>& tables);

} // namespace dfc::tool
