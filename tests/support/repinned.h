// A graph's ops put elsewhere, as tests do that try the same graph in several places.
#pragma once

#include "ir/graph/graph.h"

#include <llvm/ADT/STLExtras.h>

#include <string>

namespace dfc::test {

/// Neither a source nor state: it is done in each step, wherever its pin says.
bool computes(OpKind kind);

/// The same graph with other pins: `pin` gives the pin of each op that computes ("" for none), asked in their
/// order; none for the others.
Graph repinned(const Graph& graph, llvm::function_ref<std::string(OpId)> pin);

} // namespace dfc::test
