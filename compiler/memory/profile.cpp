#include "compiler/memory/profile.h"

#include <algorithm>

namespace dfc {

MemoryProfile::MemoryProfile(uint32_t turns) : turns_(turns) {
  while (leaves_ < turns) {
    leaves_ *= 2;
  }
  most_.resize(size_t{2} * leaves_);
  added_.resize(size_t{2} * leaves_);
}

void MemoryProfile::add(uint32_t first, uint32_t last, int64_t bytes) {
  if (first < last) {
    add(1, 0, leaves_, first, last, bytes);
  }
}

void MemoryProfile::add(uint32_t node, uint32_t begin, uint32_t end, uint32_t first, uint32_t last,
                        int64_t bytes) {
  if (last <= begin || end <= first) {
    return;
  }
  if (first <= begin && end <= last) {
    most_[node] += bytes;
    added_[node] += bytes;
    return;
  }
  const uint32_t middle = begin + (end - begin) / 2;
  add(2 * node, begin, middle, first, last, bytes);
  add(2 * node + 1, middle, end, first, last, bytes);
  most_[node] = added_[node] + std::max(most_[size_t{2} * node], most_[size_t{2} * node + 1]);
}

// Walks from the leaf to the root: the right sibling of a left child holds later turns only.
int64_t MemoryProfile::most(uint32_t first) const {
  if (first >= turns_) {
    return 0;
  }
  uint32_t node = leaves_ + first;
  int64_t most = most_[node];
  for (; node > 1; node /= 2) {
    if (node % 2 == 0) {
      most = std::max(most, most_[node + 1]);
    }
    most += added_[node / 2];
  }
  return most;
}

} // namespace dfc
