// ArenaMap: where the bytes of a plan's arena on one device really lie: in the session's own arena, but for
// parameters that another session holds. Those leave no gap in the own arena.
#pragma once

#include "runtime/backend.h"

#include <algorithm>
#include <memory>

namespace dfc {

class ArenaMap {
 public:
  /// A place in an arena; no arena where the plan has no memory.
  struct Place {
    Arena* arena = nullptr;
    int64_t offset = 0;
  };
  /// Bytes of the plan, in ascending order, that lie elsewhere.
  struct Moved {
    int64_t begin = 0, end = 0; ///< of the plan's arena
    Place to;
  };

  ArenaMap() = default;
  explicit ArenaMap(Arena* own) : own_(own) {}
  ArenaMap(Arena* own, std::vector<Moved> moved) : own_(own), moved_(std::move(moved)) {}

  Place at(int64_t offset) const {
    int64_t gaps = 0;
    for (const Moved& range : moved_) {
      if (offset < range.begin) {
        break;
      }
      if (offset < range.end) {
        return {range.to.arena, range.to.offset + offset - range.begin};
      }
      gaps += range.end - range.begin;
    }
    return {own_, offset - gaps};
  }
  /// Bytes of the plan's arena that are not the own arena's.
  static int64_t bytesOf(const std::vector<Moved>& moved) {
    int64_t bytes = 0;
    for (const Moved& range : moved) {
      bytes += range.end - range.begin;
    }
    return bytes;
  }

 private:
  Arena* own_ = nullptr;
  std::vector<Moved> moved_;
};

/// By device.
using ArenaMaps = SideTable<DeviceId, ArenaMap>;

} // namespace dfc
