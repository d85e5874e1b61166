// Overlap in a trace: how long steps of several kinds ran at the same time, and how many ran at once.
#pragma once

#include "ir/plan/trace.h"

#include <functional>

namespace dfc::bench {

/// A predicate on the steps of a plan.
using Pick = std::function<bool(const Executable& plan, StepId step)>;

/// Ops other than views and sources on a compute queue of a device of this kind.
Pick computationOn(DeviceKind kind);
/// Any transfer.
Pick anyTransfer();
/// Ops whose scope begins with one of these, and transfers of their results.
Pick inScopes(std::vector<std::string> scopes);

/// Seconds in which at least one step of each of the picks ran.
double togetherSeconds(const Trace& trace, const Executable& plan, const std::vector<Pick>& picks);

/// The largest number of steps of the pick that ran at once.
int mostAtOnce(const Trace& trace, const Executable& plan, const Pick& pick);

} // namespace dfc::bench
