// Shared by the experiments that read traces.
#pragma once

#include "tools/bench/experiments/experiments.h"
#include "tools/bench/trace_facts.h"

namespace dfc::bench {

/// The measured trace of `steps` steps of a session that was opened with tracing, after warming up.
Trace tracedSteps(const Prepared& prepared, int steps);

/// Writes predicted and measured trace as one Chrome trace into the stage's folder, as `name`.trace.json, and
/// says so in the row; nothing without a folder.
Status keepTrace(const Harness& harness, const std::string& name, const Prepared& prepared,
                 const Trace& measured, Row& row);

} // namespace dfc::bench
