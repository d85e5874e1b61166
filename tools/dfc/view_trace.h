// What `dfc view --trace` shows of a measured trace beside the plan's prediction: as a picture, in words and
// as JSON.
#pragma once

#include "ir/draw/trace_dot.h"

#include <memory>
#include <optional>

namespace dfc::tool {

/// Reads the trace of a run of `plan` and chooses its step `wanted`, or the one of median makespan. The
/// predicted spans are the simulation's.
Result<TraceComparison> compareWithTrace(const Executable& plan, const std::string& tracePath,
                                         std::optional<uint32_t> wanted);

/// Totals, the ten dearest ops, op kinds and scopes, the queues' busy times, and the critical path with what
/// each op on it waited for.
std::string comparisonText(const TraceComparison& comparison);
/// The same as a JSON object.
std::string comparisonJson(const TraceComparison& comparison);

} // namespace dfc::tool
