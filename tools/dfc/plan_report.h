// What a plan promises, in words and as JSON: ops, transfers, predicted time against its lower bound, memory
// per device, work per queue.
#pragma once

#include "ir/executable.h"

#include <string>

namespace dfc::tool {

/// A few lines, each ended.
std::string planSummary(const Executable& plan);
/// The same as a JSON object: graph, machine, policy, ops, transfers, transferBytes, predictedSeconds,
/// lowerBoundSeconds, devices.
std::string planSummaryJson(const Executable& plan);

/// How many ops of a plan do work on a device; inputs and transfers are not among them.
size_t computationsOf(const Executable& plan);

} // namespace dfc::tool
