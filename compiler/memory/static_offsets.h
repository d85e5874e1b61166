// assignStaticOffsets: offsets of all buffers, computed before scheduling for one sequential order of the
// tasks, and the orderings that make them safe on any number of queues. An offset is reused only after every
// user of its previous buffer. All orderings point forward in the sequential order, so they close no cycle,
// and fragmentation cannot occur while tasks run.
#pragma once

#include "compiler/memory/low_peak_order.h"

#include <optional>

namespace dfc {

struct StaticOffsets {
  SideTable<BufferId, int64_t> offsets;
  std::vector<TaskOrdering> orderings;
};

/// `available`: bytes for buffers, by device. None where the packing found exceeds them on some device, or
/// where a device has too many buffers to compare all pairs.
std::optional<StaticOffsets> assignStaticOffsets(const LowPeakOrder& lowPeak,
                                                 const SideTable<DeviceId, int64_t>& available);

} // namespace dfc
