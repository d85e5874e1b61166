// minimumMemoryOrder: an order of all tasks, one after the other, that keeps little in memory: what frees
// goes first, the rest in a given order. It is the yardstick of the memory gate (see admission_control.h),
// and it settles which results overwrite an operand. Greedy, as in list scheduling by register pressure
// (Goodman and Hsu 1988): finding the least memory of a DAG is NP-complete (Sethi 1975).
#pragma once

#include "compiler/memory/memory_requirements.h"

namespace dfc {

struct MinimumMemoryOrder {
  std::vector<uint32_t> order;       ///< topological
  SideTable<DeviceId, int64_t> peak; ///< bytes of buffers while it runs
  /// The requirements with results and the operands that they overwrite joined; `mayOverwrite` is empty.
  /// Users are in the order of `order`.
  MemoryRequirements requirements;
  /// The other users of such an operand, each before the task that overwrites it; forward in `order`.
  std::vector<TaskOrdering> orderings;
};

/// `rank`: by task, a number of its own; where nothing frees, the smallest goes first.
MinimumMemoryOrder minimumMemoryOrder(const ListProblem& problem, const MemoryRequirements& requirements,
                                      const std::vector<uint32_t>& rank, size_t deviceCount);

} // namespace dfc
