// packByTime: first fit in the order of first writes. Each queue that still has first writes before it sees
// the arena in its own way: what dies before its next first write is free for all that it will write, since
// later steps of a queue know at least as much as earlier ones. So each view only ever lets go, a storage's
// uses are looked at once a view, and n storages cost O(n log n) a view and the gaps that are passed over.
// The offsets are those that comparing each storage with all earlier ones would give.
#pragma once

#include "compiler/memory/pack.h"
#include "compiler/memory/storage.h"

#include <llvm/ADT/ArrayRef.h>

namespace dfc {

/// A storage that does not outlive the step, and the offset that it should have if that is free; -1 for any.
struct TimedStorage {
  const StorageRow* row = nullptr;
  int64_t wish = -1;
};

/// Of one device. Offsets are multiples of `arenaAlignment` where wishes are.
Packing packByTime(llvm::ArrayRef<TimedStorage> storages, const Schedule& schedule,
                   const HappensBefore& before);

} // namespace dfc
