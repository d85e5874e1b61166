// MemoryRequirements: the buffers that each task allocates and frees, on the devices that are short of
// memory. They are computed before scheduling. Values therefore share a buffer only where they are the same
// storage in every schedule: views, an assign and its parameter, and a value computed in its parameter's
// storage where orderings allow it. Further operands that a result may overwrite are listed. Resident values
// (parameters, constants) occupy memory all the time and are not counted.
#pragma once

#include "compiler/schedule/schedule_problem.h"

namespace dfc {

using BufferId = Id<struct BufferTag>;

struct BufferRow {
  DeviceId device;
  int64_t bytes = 0;                    ///< a multiple of arenaAlignment, not 0
  bool liveOut = false;                 ///< fetched: kept after its last user
  llvm::SmallVector<uint32_t, 4> users; ///< every task that reads or writes it, each once
};

struct TaskBuffers {
  llvm::SmallVector<BufferId, 1> allocates; ///< buffers that the task allocates: it writes them first
  llvm::SmallVector<BufferId, 4> uses; ///< buffers that it reads or writes, each once; includes `allocates`
  llvm::SmallVector<BufferId, 1>
      inPlaceCandidates; ///< operands that its one result may replace, as their last use
};

struct MemoryRequirements {
  Table<BufferId, BufferRow> buffers;
  std::vector<TaskBuffers> tasks;
  SideTable<ValueId, BufferId>
      of; ///< invalid for empty and resident values, and on devices with enough memory
};

MemoryRequirements memoryRequirements(const PlacedGraph& placed, const ScheduleProblem& problem,
                                      llvm::ArrayRef<DeviceId> shortDevices);

} // namespace dfc
