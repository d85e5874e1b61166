#include "compiler/simulate/lower_counted.h"

#include "compiler/simulate/count_launches.h"
#include "compiler/simulate/steady_step.h"
#include "ir/plan/peer_reads.h"

#include <llvm/ADT/STLExtras.h>

namespace dfc {
namespace {

/// Ratio of the counted to the scheduled seconds from which large reads at peers are doubted.
constexpr double longer = 1.01;

bool readsLargeValues(const LaunchPlan& launches, const Schedule& schedule, const PlacedGraph& placed) {
  return llvm::any_of(launches.peers.reads, [&](const PeerRead& read) {
    return placed.transfers.find(schedule.steps[read.transfer].op)->second.bytes > smallPeerRead;
  });
}

} // namespace

Result<LaunchPlan> lowerCounted(const PlacedGraph& placed, Schedule& schedule, const MemoryPlan& memory,
                                const Machine& machine, const CostModel& cost, LowerOptions options) {
  const auto count = [&](Schedule& counted) -> Result<LaunchPlan> {
    auto launches = lower({placed, counted, memory, machine}, options);
    if (launches) {
      countLaunches(counted, *launches, placed, machine, cost);
      counted.steady = steadyStep(counted, *launches, placed, machine, cost);
    }
    return launches;
  };
  Schedule counted = schedule;
  auto launches = count(counted);
  if (launches && counted.steady.seconds > longer * schedule.makespan &&
      readsLargeValues(*launches, counted, placed)) {
    options.largePeerReads = false;
    Schedule other = schedule;
    auto copied = count(other);
    if (copied && other.steady.seconds < counted.steady.seconds) {
      schedule = std::move(other);
      return copied;
    }
  }
  schedule = std::move(counted);
  return launches;
}

} // namespace dfc
