// Where the elements of an input go as indices: the ops that take them, the ranges that these have, and which
// elements each takes.
#pragma once

#include "ir/graph/graph.h"
#include "ir/graph/literal.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dfc {

/// The range of the indices that an op takes: `least` and up, below `end`, and `others`.
struct IndexRange {
  OpId op;
  int64_t least = 0, end = 0;
  bool refused = true;              ///< false: the op says what becomes of others, and they may be meant
  std::vector<int64_t> others = {}; ///< labels that do not count
  bool isWithin(double index) const {
    return index >= static_cast<double>(least) && index < static_cast<double>(end);
  }
  bool holds(double index) const {
    return isWithin(index) || std::any_of(others.begin(), others.end(),
                                          [&](int64_t other) { return index == static_cast<double>(other); });
  }
};

/// An op that takes elements of the input as indices, and which: their places in a batch, row-major.
struct IndexUse {
  IndexRange range;
  Literal places;
};

/// All ops that take elements of the author's input for indices. The input is followed through transfers,
/// casts between integers, views, transposes and slices; on the way to a oneHot also through what replaces
/// some of the elements, where the graph answers all that name no class with NaN (a loss of labels).
std::vector<IndexUse> indexUsesOf(const Graph& graph, std::string_view input);

/// The range of an input's elements under all ops that take some of them and refuse others, by the input's
/// name. Looks at the ops alone.
std::vector<std::pair<std::string, IndexRange>> refusedRanges(const Graph& graph);

} // namespace dfc
