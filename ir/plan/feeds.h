// Feeds: what a session does with fed values before a step reads them, as far as predictions have to know.
//
// A value that only the host reads stays where the caller has it. One that a GPU reads is first staged:
// copied to pinned memory by the host, which reads and writes all its bytes. From `leastPrefetchedBytes` on
// it is then prefetched to the GPU while the step before computes, and its step copies it within the GPU.
// Staging and prefetch overlap each other and the computation, so in the steady state a step takes the longer
// of its own work and the work of its feeds.
#pragma once

#include "ir/plan/schedule.h"

namespace dfc {

/// Bytes from which a feed is prefetched; the copy of a smaller one is a command of its step. Not tuned: at
/// 50 GB/s this many bytes take 20 us.
inline constexpr int64_t leastPrefetchedBytes = 1 << 20;

/// Whether a value is a fed one, or a view of one.
bool isFed(const Graph& graph, ValueId value);

/// By op: whether it is an input that a GPU reads a copy of.
SideTable<OpId, bool> stagedInputs(const PlacedGraph& placed, const Machine& machine);

/// Whether a session does this transfer of a feed while the step before computes.
bool isPrefetched(const PlacedGraph& placed, OpId transfer, const Machine& machine);

/// Seconds of the host for the staging of so many bytes.
double stagingSeconds(const DeviceRow& host, int64_t bytes);

/// Seconds that a prefetched feed takes in its step: a copy of so many bytes within the GPU.
double prefetchedSeconds(const DeviceRow& gpu, int64_t bytes);

/// What feeds take in the steady state.
struct FeedTimes {
  SideTable<StepId, double> inStep; ///< seconds alone of every step, without what is done before its step
  /// Seconds that a step takes at least because of its feeds: of all staging, or of the prefetches on one
  /// link.
  double outside = 0;
  bool any = false; ///< whether anything is done before the step
};
/// By the steps' own seconds alone.
FeedTimes feedTimes(const PlacedGraph& placed, const Schedule& schedule, const Machine& machine);

} // namespace dfc
