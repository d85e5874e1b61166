// What a plan promises, in words and as JSON: ops, transfers, predicted time against its lower bound, memory
// per device, work per queue.
#pragma once

#include "ir/plan/executable_parts.h"

#include <string>

namespace dfc::tool {

/// Where the rates of a plan's machine come from: estimates are said, since the times follow from them.
enum class Rates : uint8_t { OfTheMachine, Estimated };

/// What is to be said behind a predicted time: nothing, or that it comes from estimates and how to measure.
std::string ratesText(Rates rates);

/// A few lines, each ended.
std::string planSummary(const Executable& plan, Rates rates = Rates::OfTheMachine);
/// The same as a JSON object: graph, machine, policy, ops, transfers, transferBytes, predictedSeconds and
/// lowerBoundSeconds (of a step among many), firstStepSeconds, devices.
std::string planSummaryJson(const Executable& plan);

/// How many ops of a plan do work on a device; inputs and transfers are not among them.
size_t computationsOf(const Executable& plan);

} // namespace dfc::tool
