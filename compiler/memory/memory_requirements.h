// MemoryRequirements: what each task of a schedule takes and gives back on the devices that are short of
// memory. It is said before anything is scheduled, so it counts as one buffer only what is the same storage
// by meaning (views; an assign and its parameter; a value made in its parameter's place, where orderings
// allow it), and names the operands that a result may overwrite. Resident values are no buffers: they are
// always there.
#pragma once

#include "compiler/schedule/schedule_problem.h"

namespace dfc {

using BufferId = Id<struct BufferTag>;

struct BufferRow {
  DeviceId device;
  int64_t bytes = 0;                    ///< a multiple of arenaAlignment, not 0
  bool toEnd = false;                   ///< fetched: kept after its last user
  llvm::SmallVector<uint32_t, 4> users; ///< every task that reads or writes it, each once
};

struct TaskBuffers {
  llvm::SmallVector<BufferId, 1> makes;        ///< that it writes first
  llvm::SmallVector<BufferId, 4> uses;         ///< that it reads or writes, each once; with `makes`
  llvm::SmallVector<BufferId, 1> mayOverwrite; ///< with its one result, where nothing else needs them later
};

struct MemoryRequirements {
  Table<BufferId, BufferRow> buffers;
  std::vector<TaskBuffers> tasks;
  SideTable<ValueId, BufferId> of; ///< invalid for values of no bytes, of other devices, and resident ones
};

MemoryRequirements memoryRequirements(const PlacedGraph& placed, const ScheduleProblem& problem,
                                      llvm::ArrayRef<DeviceId> shortDevices);

} // namespace dfc
