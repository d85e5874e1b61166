// Ranges of an axis, or of the positions of a factor, one for each device of a mesh.
#pragma once

#include "ir/graph/rules/split_rule.h"

#include <vector>

namespace dfc {

/// Even ranges of an axis, in the proportions of the shares, each of one element at least; their ends are
/// multiples of `granule` where the axis is long.
std::vector<SplitRange> rangesOf(int64_t length, const std::vector<double>& shares, int64_t granule = 1);

} // namespace dfc
