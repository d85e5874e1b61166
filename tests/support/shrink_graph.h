// Makes a graph that fails a property small enough to read: delta debugging (Zeller and Hildebrandt 2002,
// "Simplifying and Isolating Failure-Inducing Input") over its ops and fetches.
#pragma once

#include "ir/graph/graph.h"

#include <functional>

namespace dfc::test {

/// A graph that still fails, where no assign and no fetch can be left out, no op's results be inputs, and no
/// op's operands be fetched in its place, any more. Ops keep their names, scopes and pins. `fails` holds of
/// `graph` and is asked some hundreds of times.
Graph shrunk(const Graph& graph, const std::function<bool(const Graph&)>& fails);

} // namespace dfc::test
