// Plans and traces as Python holds them.
#pragma once

#include "compiler/compile.h"
#include "ir/plan/trace.h"

#include <memory>
#include <vector>

namespace dfc::python {

/// An executable, which sessions share.
struct Plan {
  std::shared_ptr<const Executable> executable;
};

/// A trace with the plan that its ops are of.
struct PlanTrace {
  Trace trace;
  std::shared_ptr<const Executable> executable;
};

/// The page of a plan as one HTML text: its graph, timeline, memory and explanation, and above the prediction
/// the median of the measured steps; null for none. Raises ValueError for a trace of another plan, or without
/// a step.
std::string pageOf(const Plan& self, const PlanTrace* measured);

/// The options of `compile` and the tables that its cost model stands on.
struct Options : CompileOptions {};

} // namespace dfc::python
