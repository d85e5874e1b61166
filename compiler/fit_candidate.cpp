#include "compiler/fit_candidate.h"

#include "compiler/lower_options.h"
#include "compiler/place/memory_demand.h"
#include "compiler/place/place.h"
#include "compiler/place/planned_seconds.h"
#include "compiler/rematerialise/fit_by_repeating.h"
#include "compiler/run_passes.h"
#include "compiler/split/pipeline/micro_batches.h"

#include <fmt/format.h>

namespace dfc {
namespace {

/// Micro-batches of a step. With more, kernels no longer fill a device.
constexpr size_t mostParts = 32;
/// Recomputation and micro-batches are tried for a plan that fits, too, where waits for memory make its step
/// longer than this multiple of the makespan without a memory limit.
constexpr double longWaits = 1.03;

} // namespace

std::optional<double> fitCandidate(Placement& placement, const Graph& unfused, const std::string& policy,
                                   const Machine& machine, const CostModel& cost,
                                   const CompileOptions& options) {
  const MemoryDemand demand = memoryDemand(placement, machine);
  if (!fitsInto(machine, demand.state)) { // every variant has the same parameters and replicas
    return std::nullopt;
  }
  const bool mayFit = fitsInto(machine, demand.least);
  const LowerOptions lowering = lowerOptionsOf(options);
  const auto planned = [&](const Placement& one) {
    return plannedSeconds(one, decided(one, machine, cost, lowering));
  };
  const auto asItIs = mayFit ? planned(placement) : std::nullopt;
  const auto inAmpleMemory = [&] {
    return predictedMakespan(placement, decided(placement, machine, cost, lowering));
  };
  if (asItIs && !(asItIs->waits && asItIs->seconds > longWaits * inAmpleMemory())) {
    return asItIs->seconds;
  }
  std::optional<double> best = asItIs ? std::optional(asItIs->seconds) : std::nullopt;
  std::optional<Placement> found;
  const auto take = [&](std::optional<double> seconds, Placement&& one) {
    if (seconds && (!best || *seconds < *best)) {
      best = seconds;
      found = std::move(one);
    }
  };
  const auto repeat = [&](Placement one) {
    const auto seconds = fitByRepeating(one, machine, cost, lowering);
    take(seconds, std::move(one));
  };
  if (mayFit) {
    repeat(placement);
  }
  for (size_t parts = 2; parts <= mostParts; parts *= 2) {
    const auto batches = microBatches(unfused, parts);
    if (!batches) {
      break;
    }
    auto fused = runPasses(PassPhase::Fuse, *batches, machine, options);
    auto placed = fused ? place(*fused, machine, cost, policy, lowering) : Result<Placement>(fused.errors());
    if (!placed) {
      break;
    }
    placed->policy = fmt::format("{}; {} micro-batches", placement.policy, parts);
    if (!fitsInto(machine, memoryDemand(*placed, machine).least)) {
      continue;
    }
    if (const auto seconds = planned(*placed)) {
      take(seconds->seconds, *std::move(placed));
      break; // smaller parts are slower
    }
    repeat(*std::move(placed));
  }
  if (found) {
    placement = *std::move(found);
  }
  return best;
}

} // namespace dfc
