// searchPlacement: local search from the placement that was chosen, for the time and the steps of
// CompileOptions::planSeconds and planSteps. Where a split was chosen, on it; else on the quickest split and
// on the placement of whole ops.
#pragma once

#include "compiler/compile.h"
#include "compiler/split/split.h"
#include "ir/plan/placement.h"

#include <chrono>
#include <memory>
#include <optional>

namespace dfc {

struct SearchStart {
  const Graph& graph; ///< behind the passes of the phase Rewrite
  const Placement& chosen;
  double seconds = 0;                          ///< predicted, of its plan
  bool isSplit = false;                        ///< whether it is `split`
  double mostOfSplit = 0;                      ///< seconds below which a split is better than what was chosen
  std::shared_ptr<const SplitGraph> split;     ///< the quickest one; null: none was rated
  double splitSeconds = 0;                     ///< of it; infinite where there is none
  std::chrono::steady_clock::time_point begin; ///< of planSeconds
};

struct FoundPlacement {
  Placement placement;
  double seconds = 0;                      ///< predicted, of its plan
  std::shared_ptr<const SplitGraph> split; ///< null: whole ops
};

/// The default number of search steps. A step costs the number of ops times the number of devices; all steps
/// together have a constant cost. 0 if fewer than 100 steps would remain, which find little.
uint64_t defaultPlanSteps(const Graph& graph, const Machine& machine);

/// A better placement that fits into memory. Nothing if none is found or the limits allow no search.
std::optional<FoundPlacement> searchPlacement(const SearchStart& start, const Machine& machine,
                                              const CostModel& cost, const CompileOptions& options);

} // namespace dfc
