// MemoryProfile: bytes held at each turn of an order, with range additions and range maxima. A segment tree
// with lazy additions at the inner nodes (Bentley 1977): each update and each query takes O(log turns).
#pragma once

#include <cstdint>
#include <vector>

namespace dfc {

class MemoryProfile {
 public:
  explicit MemoryProfile(uint32_t turns);
  /// Adds `bytes` at the turns [first, last).
  void add(uint32_t first, uint32_t last, int64_t bytes);
  /// The maximum over the turns from `first` to the last; 0 where there is none.
  int64_t most(uint32_t first) const;

 private:
  void carry(uint32_t node);
  uint32_t turns_;
  uint32_t leaves_ = 1;        // a power of 2
  std::vector<int64_t> most_;  // by node: maximum of its turns, with the additions at it and below
  std::vector<int64_t> added_; // by node: addition to all of its turns
};

} // namespace dfc
