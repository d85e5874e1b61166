// planPage: a plan as one HTML file that needs nothing else: the graph by scope, the timeline of every queue,
// predicted above measured, the memory of every device on the same axis, sums, and the explanation. The data
// are a JSON element of the file, which its scripts draw; no byte is fetched.
#pragma once

#include "ir/plan/executable_parts.h"
#include "ir/plan/trace_step.h"

#include <optional>
#include <string>

namespace dfc {

struct PageContents {
  const Executable& plan;
  TraceStep predicted = {};
  double lead = 0; ///< seconds of the predicted step before its first op (`DeviceRow::stepOverheadSeconds`)
  std::optional<TraceStep> measured = {};
  std::string which = "";                 ///< the measured step: "step 4 of the trace"
  std::vector<std::string> backends = {}; ///< that ran the measured step's devices, as in `Trace`
  std::string explanation = "";           ///< a JSON object as of `dfc explain --json`; "" for none
};

std::string planPage(const PageContents& contents);

/// The JSON element of the page.
std::string pageData(const PageContents& contents);

} // namespace dfc
