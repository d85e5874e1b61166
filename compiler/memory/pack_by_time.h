// packByTime: first-fit packing in the order of first writes. Each queue has a liveness of its own: the bytes
// of the arena that its next first write must not touch. A storage whose uses all happen before that write is
// dead for this queue, and stays dead, because later steps of a queue happen after at least as much as
// earlier ones. A queue's liveness therefore only shrinks as its steps pass, looks at each storage's uses
// once, and costs O(n log n) for n storages, plus the gaps that first fit passes over. The offsets equal
// those of a comparison of all pairs.
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
