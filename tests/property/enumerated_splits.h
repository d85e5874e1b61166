// All plans of a small graph: every choice of split options that the rules allow, on each mesh that the
// planner looks at, and every placement of whole ops, each planned and predicted as compile() does.
#pragma once

#include "compiler/compile.h"
#include "compiler/split/split_plan.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

namespace dfc::test {

/// The meshes of `candidateMeshes`, and the first devices of each.
std::vector<Mesh> allMeshes(const Graph& graph, const Machine& machine);

/// The layouts that each op reads and gives, a line each.
std::string textOf(const Graph& graph, const SplitPlan& plan);

/// Where a plan runs: the choice prefers the earlier ones unless the later gain 2 %.
enum class PlanKind : uint8_t { OneDevice, WholeOps, Split };

struct Enumerated {
  std::array<double, 3>
      seconds{};        ///< predicted, of the quickest plan of each kind; infinite: none was looked at
  std::string text;     ///< the layouts of the quickest split
  size_t plans = 0;     ///< how many were predicted
  size_t overBound = 0; ///< of these: a lower bound above the prediction

  double least() const { return *std::min_element(seconds.begin(), seconds.end()); }
  /// Of the plan that the choice takes if it knows them all.
  double preferred() const;
};

struct EnumerationLimits {
  std::array<double, 3> known{}; ///< seconds of known plans of each kind: what cannot be quicker is left out
  size_t splits = 0;             ///< how many may be predicted
  size_t placements = 0;         ///< of whole ops, how many there may be; else only single devices
};

/// `graph`: behind the passes of the phase Rewrite. Nothing where there are more splits than the limit.
std::optional<Enumerated> enumeratePlans(const Graph& graph, const Machine& machine,
                                         const EnumerationLimits& limits);

} // namespace dfc::test
