// A picture of one step, predicted above measured, for Graphviz: time from left to right, for each queue a
// row of the predicted and below it a row of the measured ops, both from the start of the step; the critical
// path of the measured step marked in both; totals in the title; a legend. Positions are fixed in the file
// (layout neato), so `dot -Tsvg` draws it.
//
// Both rows have one scale, so that lengths compare, unless one makespan is more than three times the other
// (an emulated GPU is no GPU): then each has its own, and the picture says so.
#pragma once

#include "ir/plan/critical_path.h"
#include "ir/plan/executable_parts.h"

#include <string>

namespace dfc {

struct TraceComparison {
  const Executable& plan;
  TraceStep predicted, measured;
  std::vector<PathSpan> path; ///< of `measured`
  std::string which;          ///< "step 4, the median of 10"
  double lead = 0; ///< seconds of the predicted step before its first op (`DeviceRow::stepOverheadSeconds`):
                   ///< a measured trace begins with its first op, so both are compared from there
  std::vector<std::string> backends = {}; ///< that ran the devices, as in `Trace`
  double lowerBound() const { return plan.lowerBoundSeconds() - lead; }
};

/// With a `reason` of its own, which stands in the picture, ops are not drawn one by one: a box a scope, and
/// no box that begins within the last one's width of a few pixels.
std::string traceDot(const TraceComparison& comparison, const std::string& reason = "");

} // namespace dfc
