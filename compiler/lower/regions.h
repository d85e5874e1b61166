// Regions without waits: the parts of a queue's steps within which launches may be merged and reordered.
//
// A region is cut by waits in both directions: where the queue waits (for the host, another queue or another
// GPU), and where one of those waits for the queue. A queue region is cut only where the queue itself waits;
// ends that others wait for may be published inside it. Copies cut both.
#pragma once

#include "compiler/lower/plan_stages.h"
#include "ir/plan/launch_plan.h"

namespace dfc::cuda {

/// The region and the queue region that a step belongs to.
struct Region {
  /// Ascending from 0 on each queue. A step that waits begins a region, a step whose end is awaited ends one,
  /// and a copy is a region by itself.
  uint32_t number = 0;
  /// Ascending from 0. Consecutive regions share a queue region if neither a wait of the queue nor a copy
  /// lies between them.
  uint32_t queueRegion = 0;
  bool operator==(const Region&) const = default;
};

/// The region of each step, under the waits of `peers`. A computation may run earlier or later within its
/// region: no wait can observe the order. It may run earlier within its queue region: all that the queue has
/// waited for is the same there, and whatever waits for the computation, or for one that it passes, finds
/// both finished.
SideTable<StepId, Region> regionsOf(const PlanStages& stages, const PeerReads& peers);

} // namespace dfc::cuda
