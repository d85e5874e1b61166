// Packing buffers into one arena: an offset for each, so that buffers in conflict do not overlap. Finding the
// smallest arena is NP-hard (dynamic storage allocation, Garey and Johnson SR2), so several greedy orders are
// tried and the best kept: lowest feasible offset, by size (Pisarchyk and Lee 2020), by time, by size times
// lifetime.
#pragma once

#include <llvm/ADT/STLFunctionalExtras.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dfc {

struct PackBuffer {
  int64_t bytes = 0;
  double begin = 0, end = 0; ///< predicted lifetime; only a guide for the order
};

struct Packing {
  std::vector<int64_t> offsets; ///< multiples of the alignment
  int64_t bytes = 0;            ///< of the whole arena
};

/// `conflicts(a, b)`: whether buffers a and b may hold their contents at the same time; symmetric. Tries
/// every order; takes O(n^2) calls.
Packing pack(const std::vector<PackBuffer>& buffers, int64_t alignment,
             llvm::function_ref<bool(size_t, size_t)> conflicts);

/// Lowest offset at which `bytes` fit beside the taken [offset, end) ranges, which get sorted.
int64_t lowestFit(std::vector<std::pair<int64_t, int64_t>>& taken, int64_t bytes, int64_t alignment);

} // namespace dfc
