// The order of the rows of a data set in one epoch: Fisher-Yates (Durstenfeld 1964) with the standard's
// mt19937_64, so the same on every computer.
#pragma once

#include "ir/base/visibility.h"

#include <cstdint>
#include <vector>

namespace DFC_PUBLIC dfc {

/// A permutation of 0 … rows - 1, drawn from seed and epoch. Throws std::invalid_argument
/// where rows < 0.
std::vector<int64_t> shuffledRows(int64_t rows, uint64_t seed, int64_t epoch);

} // namespace dfc
