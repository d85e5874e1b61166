// Graphs that measure the compiler and the runtime themselves.
#pragma once

#include "ir/graph/graph.h"
#include "tools/bench/graphs/dag.h"

namespace dfc::bench {

/// One op of one element for each task, reading the results of those before it (a parameter where there are
/// none). Compile it without passes, which would remove most of it. At most three predecessors a task.
Result<Graph> graphOf(const Dag& dag);

/// About `ops` ops as large models have them: layers of 32 values of 64x64 f32, each value made from two of
/// the layer before by a matrix product or by elementwise ops, four layers a scope. Every op is needed. The
/// same for the same number.
Result<Graph> largeModel(size_t ops);

} // namespace dfc::bench
