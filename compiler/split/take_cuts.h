// takeCuts: the wishes of a graph's `cut` ops, and the graph without these ops. Runs where the graph is
// split, behind the passes that rewrite ops: until then the op keeps the author's value in the graph,
// whatever becomes of the ops that compute it, and says where the value is.
#pragma once

#include "ir/graph/graph.h"

#include <string>
#include <vector>

namespace dfc {

/// What one `cut` asks for. Its place is that of the op.
struct TakenCut {
  ValueId value; ///< the operand, in the graph without cuts
  int64_t axis = 0;
  std::string devices;
  SourceLocation where;
  std::string scope;
};

struct TakenCuts {
  Graph graph;
  std::vector<TakenCut> cuts; ///< in the order of the ops
};

/// Readers of a cut read its operand. An operand that the author gave no name takes that of the cut.
TakenCuts takeCuts(const Graph& graph);

} // namespace dfc
