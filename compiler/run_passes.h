// Runs the passes of a phase, as compile() and its choice of a split do.
#pragma once

#include "compiler/compile.h"
#include "compiler/passes/passes.h"

namespace dfc {

/// Each pass of the phase in order, but for those that the options leave out; the observer sees each graph.
/// Debug builds verify it.
Result<Graph> runPasses(PassPhase phase, Graph graph, const Machine& machine, const CompileOptions& options);

} // namespace dfc
