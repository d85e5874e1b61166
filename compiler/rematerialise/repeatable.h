// isRepeatable: whether an op may be computed a second time, with the same results and without effects.
#pragma once

#include "ir/graph/graph.h"

namespace dfc {

bool isRepeatable(const Graph& graph, OpId op);

} // namespace dfc
