// readMeasuredTrace: reads the measured spans of a file that `chromeTrace` wrote, for the plan that ran.
#pragma once

#include "ir/plan/executable_parts.h"
#include "ir/plan/trace.h"

namespace dfc {

/// The spans of the file's process "measured". What is wrong with the file is said at its place: broken JSON,
/// no measured spans, an op or a queue that the plan does not have, predicted times that are not the plan's
/// (the trace of another plan). `fileName` is for messages.
Result<Trace> parseMeasuredTrace(std::string_view json, const std::string& fileName, const Executable& plan);
Result<Trace> readMeasuredTrace(const std::string& path, const Executable& plan);

} // namespace dfc
