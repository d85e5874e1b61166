// assignTimedOffsets: offsets of all buffers, computed behind a run that counted bytes alone. All lifetimes
// are known by then, so that buffers are packed with less fragmentation than by an allocation that sees only
// what is free at the moment.
#pragma once

#include "compiler/memory/admission_control.h"

namespace dfc {

struct TimedOffsets {
  SideTable<BufferId, int64_t> offsets;
  std::vector<Reuse> reuses;
};

/// `times`: a run that holds at most `available` bytes on each device at any moment. None where the packing
/// that was found exceeds them, or where a device has too many buffers to compare all pairs.
std::optional<TimedOffsets> assignTimedOffsets(const LowPeakOrder& lowPeak, const ListResult& times,
                                               const SideTable<DeviceId, int64_t>& available);

} // namespace dfc
