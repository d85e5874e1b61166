// lowPeakOrder: a sequential order of all tasks with a small peak of memory. Ready tasks that free memory go
// first, the others by a given rank. Admission control (admission_control.h) uses it as the safe sequence of
// the banker's algorithm, and it decides which results overwrite an operand. The order is greedy, as in list
// scheduling by register pressure (Goodman and Hsu 1988): minimising the memory of a DAG is NP-complete
// (Sethi 1975).
#pragma once

#include "compiler/memory/memory_requirements.h"

namespace dfc {

struct LowPeakOrder {
  std::vector<uint32_t> order;       ///< topological
  SideTable<DeviceId, int64_t> peak; ///< largest sum of live buffers, in bytes
  /// The requirements, in which a result and the operand that it overwrites are one buffer;
  /// `inPlaceCandidates` is empty. Users of a buffer are sorted by `order`.
  MemoryRequirements requirements;
  /// Every other user of an overwritten operand comes before the task that overwrites it; forward in `order`.
  std::vector<TaskOrdering> orderings;
};

/// When a source, which is a task without predecessors such as a copy of a parameter to another device,
/// becomes ready. AtStart: at the start of the step. WhenNeeded: when the first of its successors has no
/// other unfinished predecessors than sources; it then precedes other tasks that allocate, and buffers of
/// less than a thousandth of the largest count as none. An optimizer update with state on another device so
/// follows its gradient, and few gradients are alive at once.
enum class Sources : uint8_t { AtStart, WhenNeeded };

/// `rank`: distinct numbers, by task. While no ready task frees memory, the one of smallest rank goes first.
LowPeakOrder lowPeakOrder(const ListProblem& problem, const MemoryRequirements& requirements,
                          const std::vector<uint32_t>& rank, size_t deviceCount,
                          Sources sources = Sources::AtStart);

/// Ranks of tasks by the first task without successors, such as an assign, that depends on them. Where all
/// updates wait for one value, such as the flag that all gradients are finite, the ops of an update then
/// follow it, one update after the other, and no two of them hold new moments at the same time.
std::vector<uint32_t> ranksByNeed(const ListProblem& problem);

} // namespace dfc
