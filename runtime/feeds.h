// Feeds: whether the given values fit the plan's inputs.
#pragma once

#include "runtime/resident.h"
#include "runtime/resolve.h"

namespace dfc {

/// Every mistake at once: inputs without a value, names that the plan does not have (did you mean …), values
/// of another type or shape, each naming the input and both types, at the line of the input. Empty when all
/// is well.
Diagnostics checkFeeds(const Graph& graph, llvm::ArrayRef<FeedRow> rows, const NamedLiterals& given);

} // namespace dfc
