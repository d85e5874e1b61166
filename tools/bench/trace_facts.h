// What a trace shows about overlap: how long things of several kinds were under way together, and how many at
// the most.
#pragma once

#include "ir/plan/trace.h"

#include <functional>

namespace dfc::bench {

/// Which steps of a plan are meant.
using Pick = std::function<bool(const Executable& plan, StepId step)>;

/// Real work on a compute queue of a device of this kind.
Pick computationOn(DeviceKind kind);
/// Any transfer.
Pick anyTransfer();
/// Ops whose scope is, or begins with, one of these; transfers of the values that they make included.
Pick inScopes(std::vector<std::string> scopes);

/// Seconds in which, for each of the picks, at least one of its steps was under way.
double togetherSeconds(const Trace& trace, const Executable& plan, const std::vector<Pick>& picks);

/// The most steps of the pick under way at one moment.
int mostAtOnce(const Trace& trace, const Executable& plan, const Pick& pick);

} // namespace dfc::bench
