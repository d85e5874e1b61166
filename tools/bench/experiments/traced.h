// What the experiments that look at traces share.
#pragma once

#include "tools/bench/experiments/experiments.h"
#include "tools/bench/trace_facts.h"

namespace dfc::bench {

/// The measured trace of `steps` steps of a session that was opened with tracing, after warming up.
Trace tracedSteps(const Prepared& act, int steps);

/// Writes predicted and measured trace as one Chrome trace into the stage's folder, as `name`.trace.json, and
/// says so in the row; nothing without a folder.
Status keepTrace(const Stage& stage, const std::string& name, const Prepared& act, const Trace& measured,
                 Row& row);

} // namespace dfc::bench
