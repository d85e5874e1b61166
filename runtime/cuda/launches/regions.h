// Where a queue's program may not be rearranged: at its waits, at what others wait for, and at copies.
#pragma once

#include "runtime/backend.h"

namespace dfc::cuda {

struct Segment {
  uint32_t number = 0;  ///< ascending from 0: a command that waits begins a segment, a command that somebody
                        ///< waits for ends one, and a copy is one by itself
  uint32_t stretch = 0; ///< ascending from 0: segments with no wait and no copy between them are of one
  bool operator==(const Segment&) const = default;
};

/// Each command's. Within its segment a computation may be made sooner or later, and within its stretch
/// sooner: what the queue has waited for is the same in all of a stretch, and who waits for the computation,
/// or for one that it passes, finds both made.
std::vector<Segment> segmentsOf(const Program& program);

} // namespace dfc::cuda
