// measureHostLinks: the latency of copies between the host and its GPUs, as ops see it that wait for them.
#pragma once

#include "ir/machine/machine.h"
#include "runtime/session.h"

namespace dfc {

/// Sets the latency of the first link of each route between the host and a GPU: from the steps of a session
/// whose ops of a few elements alternate between both, each behind the one before. A copy's own time, as a
/// stream of copies shows it, leaves out that it waits for the op before it and that the op behind it waits
/// for it. The two directions share what a round trip takes beyond the launches as their latencies did
/// before; none gets shorter. Throws MachineError where no session can be opened.
void measureHostLinks(Machine& machine, const SessionOptions& options = {});

/// Three digits of a measured figure: more would only look exact. 0 for none that is positive.
double roundedFigure(double value);

} // namespace dfc
