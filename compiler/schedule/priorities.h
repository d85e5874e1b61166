// Priorities: which ready task the list scheduler starts first. Each row of priorities.def is a pure function
// from a list-scheduling problem to a number for each of its tasks; the task with the highest goes first.
#pragma once

#include "compiler/schedule/list_schedule.h"

#include <string_view>

namespace dfc {

#define DFC_PRIORITY(function, name, gain, what) std::vector<double> function(const ListProblem& problem);
#include "compiler/schedule/priorities.def"
#undef DFC_PRIORITY

/// Justified ranks of a schedule, given by the ends of its tasks: in the reversed problem the latest end goes
/// first. Repeated, this is forward-backward improvement (Li and Willis 1992).
std::vector<double> justifiedRanks(const ListProblem& problem, llvm::ArrayRef<double> ends);

struct PriorityRow {
  /// A rank for each task; any real number. Empty if the priority does not apply: ranks by micro-batch need
  /// tasks of micro-batches, sending ranks need copies.
  std::vector<double> (*ranks)(const ListProblem&);
  std::string_view name;
  double gain; ///< part of an earlier row's makespan that this one has to save
  std::string_view what;
};
/// All priorities in the order in which they are tried; at least one.
llvm::ArrayRef<PriorityRow> allPriorities();

} // namespace dfc
