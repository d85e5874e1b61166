// MemoryProfile: how many bytes are held at each turn of an order, under changes of whole stretches. A
// segment tree with additions kept at the inner nodes (Bentley 1977): each change and each question takes
// O(log turns).
#pragma once

#include <cstdint>
#include <vector>

namespace dfc {

class MemoryProfile {
 public:
  explicit MemoryProfile(uint32_t turns);
  /// To the turns [first, last).
  void add(uint32_t first, uint32_t last, int64_t bytes);
  /// Over the turns [first, end); 0 where there is none.
  int64_t most(uint32_t first) const;

 private:
  void add(uint32_t node, uint32_t begin, uint32_t end, uint32_t first, uint32_t last, int64_t bytes);
  uint32_t turns_;
  uint32_t leaves_ = 1;        // a power of 2
  std::vector<int64_t> most_;  // by node, of its turns, with what was added to it and below
  std::vector<int64_t> added_; // by node, to all of its turns
};

} // namespace dfc
