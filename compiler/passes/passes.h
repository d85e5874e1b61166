// The graph-to-graph passes. Each is a pure function in its own file; their order and its reasons are in
// passes.def. A pass keeps every fetch, every assign and every bit of every fetched value.
#pragma once

#include "ir/graph/graph.h"

#include <string_view>

namespace dfc {

#define DFC_PASS(function, name, why) Result<Graph> function(const Graph& graph);
#include "compiler/passes/passes.def"
#undef DFC_PASS

using Pass = Result<Graph> (*)(const Graph&);
struct PassRow {
  Pass run;
  std::string_view name;
  std::string_view why;
};
/// All passes in the order in which `compile` runs them.
llvm::ArrayRef<PassRow> allPasses();

} // namespace dfc
