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

// The largest nodes within the range get the addition; from its two ends, maxima are carried to the root.
void MemoryProfile::add(uint32_t first, uint32_t last, int64_t bytes) {
  if (first >= last) {
    return;
  }
  const auto apply = [&](uint32_t node) {
    most_[node] += bytes;
    added_[node] += bytes;
  };
  for (uint32_t left = first + leaves_, right = last + leaves_; left < right; left /= 2, right /= 2) {
    if (left % 2 == 1) {
      apply(left++);
    }
    if (right % 2 == 1) {
      apply(--right);
    }
  }
  carry(first + leaves_);
  carry(last - 1 + leaves_);
}

void MemoryProfile::carry(uint32_t node) {
  for (node /= 2; node > 0; node /= 2) {
    most_[node] = added_[node] + std::max(most_[size_t{2} * node], most_[size_t{2} * node + 1]);
  }
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
