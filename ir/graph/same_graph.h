// Equality of graphs: every table row for row, strings by their text, attributes by their bits. Where the
// author wrote an op is left out.
#pragma once

#include "ir/graph/graph.h"

namespace dfc {

bool sameGraph(const Graph& a, const Graph& b);

} // namespace dfc
