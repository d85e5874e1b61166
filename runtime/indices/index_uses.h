// Where the elements of an input go as indices: the ops that take them, the ranges that these have, and which
// elements each takes.
#pragma once

#include "ir/graph/graph.h"
#include "ir/graph/literal.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dfc {

/// The range of the indices that an op takes: `least` and up, below `end`.
struct IndexRange {
  OpId op;
  int64_t least = 0, end = 0;
  bool holds(double index) const {
    return index >= static_cast<double>(least) && index < static_cast<double>(end);
  }
};

/// An op that takes elements of the input as indices, and which: their places in a batch, row-major.
struct IndexUse {
  IndexRange range;
  Literal places;
};

/// All ops that take elements of the author's input for indices. The input is followed through transfers,
/// casts between integers, views, transposes and slices.
std::vector<IndexUse> indexUsesOf(const Graph& graph, std::string_view input);

/// The range of an input's elements under all ops that take some of them and refuse others, by the input's
/// name. Looks at the ops alone.
std::vector<std::pair<std::string, IndexRange>> refusedRanges(const Graph& graph);

} // namespace dfc
