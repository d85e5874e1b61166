// What `dfc run` says of a run: warnings before it, results behind it, as text or JSON.
#pragma once

#include "tools/dfc/run/training_run.h"

namespace dfc::tool {

/// Devices that backends were named for and that the machine does not have.
void noteIdleBackends(const SessionOptions& chosen, const Machine& machine, Console& console);
/// Zeros of the null backend look like results.
void noteNull(const Session& session, Console& console);

void printOutcome(const Setting& setting, const Outcome& outcome, const std::vector<std::string>& files,
                  Console& console);
std::string outcomeJson(const Setting& setting, const Outcome& outcome,
                        const std::vector<std::string>& files);

} // namespace dfc::tool
