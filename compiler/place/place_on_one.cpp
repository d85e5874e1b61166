// Policy `single`: everything that is not pinned on one device. Devices with equal rows are tried once.
#include "compiler/place/place.h"

#include <algorithm>

namespace dfc {
namespace {

// Alike devices may still differ in their links, and a pinned op ties the plan to one of them: then each is
// tried.
bool anyPin(const PlacementProblem& problem) {
  const auto ids = problem.pins.ids();
  return std::any_of(ids.begin(), ids.end(), [&](OpId op) { return problem.pins[op].valid(); });
}

} // namespace

std::vector<Placement> oneDeviceEach(const PlacementProblem& problem) {
  std::vector<Placement> candidates;
  std::vector<DeviceId> tried;
  const bool pinned = anyPin(problem);
  for (const DeviceId device : problem.machine.devices.ids()) {
    const bool seen = !pinned && std::any_of(tried.begin(), tried.end(), [&](DeviceId other) {
      return alike(problem.machine.devices[other], problem.machine.devices[device]);
    });
    if (!seen) {
      tried.push_back(device);
      candidates.push_back(placeOn(problem, device));
    }
  }
  return candidates;
}

Placement placeOnOne(const PlacementProblem& problem) { return fastest(oneDeviceEach(problem), problem); }

} // namespace dfc
