// MemoryPlan: an arena for each device and the offset of each value in it. Two values may share bytes only
// where the schedule's happens-before relation puts every access of one before the first of the other. Sizes
// in bytes.
#pragma once

#include "ir/plan/schedule.h"

namespace dfc {

inline constexpr int64_t arenaAlignment = 256;

/// The least multiple of the alignment that is no less; `bytes` >= 0.
constexpr int64_t alignUp(int64_t bytes, int64_t alignment = arenaAlignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

struct Slot {
  DeviceId device;
  int64_t offset = 0; ///< multiple of arenaAlignment; of a subview, of subviewAlignment
  int64_t bytes = 0;
};

struct MemoryPlan {
  SideTable<ValueId, Slot> slots;
  SideTable<DeviceId, int64_t>
      arenaBytes; ///< the whole arena: resident values first, then values within a step
  SideTable<DeviceId, int64_t> residentBytes; ///< parameters and constants
  SideTable<DeviceId, int64_t>
      lowerBound; ///< resident + the largest total alive at one moment of the schedule
};

} // namespace dfc
