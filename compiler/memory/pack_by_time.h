// packByTime: first-fit packing in the order of first writes, with liveness computed for each queue. The live
// set of a queue is the arena ranges that its next first write must not touch. A storage is dead for a queue
// once all its uses happen before the queue's next first write. It stays dead: happens-before only grows
// along a queue. Each queue therefore visits every use once. Cost: O(n log n) for n storages, plus the gaps
// that first fit passes over. The offsets equal those of a comparison of all pairs.
#pragma once

#include "compiler/memory/pack.h"
#include "compiler/memory/storage.h"

#include <llvm/ADT/ArrayRef.h>

namespace dfc {

/// A storage that does not outlive the step, and the offset that it gets if that is free; -1 for any offset.
struct TimedStorage {
  const StorageRow* row = nullptr;
  int64_t preferredOffset = -1;
};

/// Packs the storages of one device. Offsets are multiples of `arenaAlignment` if the preferred offsets are.
Packing packByTime(llvm::ArrayRef<TimedStorage> storages, const Schedule& schedule,
                   const HappensBefore& before);

} // namespace dfc
