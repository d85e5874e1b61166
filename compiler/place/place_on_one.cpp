// Policy `single`: everything that is not pinned on one device. Devices with equal rows are tried once.
#include "compiler/place/place.h"
#include "compiler/place/planned_seconds.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace dfc {
namespace {

/// How many times its estimate a plan may be quicker.
constexpr double mostSaved = 8;

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

// Estimates charge each op a launch; plans merge small launches, which changes the order of a CPU and a GPU.
Placement placeOnOne(const PlacementProblem& problem) {
  std::vector<Placement> candidates = oneDeviceEach(problem);
  std::vector<double> estimates;
  for (const Placement& candidate : candidates) {
    estimates.push_back(candidates.size() > 1 ? predictedMakespan(candidate, problem) : 0);
  }
  const double most = mostSaved * *std::min_element(estimates.begin(), estimates.end());
  std::optional<size_t> best;
  double bestSeconds = 0;
  for (size_t i = 0; i < candidates.size() && candidates.size() > 1; ++i) {
    const bool promises = std::isfinite(estimates[i]) && estimates[i] <= most;
    const auto planned = promises ? plannedSeconds(candidates[i], problem) : std::nullopt;
    if (planned && (!best || planned->seconds < bestSeconds)) {
      best = i;
      bestSeconds = planned->seconds;
    }
  }
  return best ? std::move(candidates[*best]) : fastest(std::move(candidates), problem);
}

} // namespace dfc
