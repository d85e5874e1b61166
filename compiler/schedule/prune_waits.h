// pruneWaits: transitive reduction of the waits between queues.
#pragma once

#include "ir/plan/schedule.h"

namespace dfc {

/// On entry each step's waits are all steps that must have ended before it, of any queue. On return they are
/// the transitive reduction with respect to queue order: of other queues only, at most one a queue, none
/// implied by another.
void pruneWaits(Schedule& schedule);

} // namespace dfc
