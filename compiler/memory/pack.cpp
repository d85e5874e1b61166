#include "compiler/memory/pack.h"

#include "ir/plan/memory_plan.h"

#include <algorithm>
#include <numeric>

namespace dfc {
namespace {

using Conflicts = std::vector<std::vector<uint32_t>>;

Conflicts conflictLists(size_t count, llvm::function_ref<bool(size_t, size_t)> conflicts) {
  Conflicts lists(count);
  for (uint32_t a = 0; a < count; ++a) {
    for (uint32_t b = 0; b < a; ++b) {
      if (conflicts(a, b)) {
        lists[a].push_back(b);
        lists[b].push_back(a);
      }
    }
  }
  return lists;
}

Packing packInOrder(const std::vector<PackBuffer>& buffers, int64_t alignment, const Conflicts& conflicts,
                    const std::vector<uint32_t>& order) {
  Packing packing;
  packing.offsets.assign(buffers.size(), -1);
  std::vector<std::pair<int64_t, int64_t>> taken;
  for (const uint32_t buffer : order) {
    taken.clear();
    for (const uint32_t other : conflicts[buffer]) {
      if (packing.offsets[other] >= 0) {
        taken.emplace_back(packing.offsets[other], packing.offsets[other] + buffers[other].bytes);
      }
    }
    packing.offsets[buffer] = lowestFit(taken, buffers[buffer].bytes, alignment);
    packing.bytes = std::max(packing.bytes, packing.offsets[buffer] + buffers[buffer].bytes);
  }
  return packing;
}

template <class Key>
std::vector<uint32_t> orderBy(size_t count, Key key) {
  std::vector<uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
  return order;
}

} // namespace

int64_t lowestFit(std::vector<std::pair<int64_t, int64_t>>& taken, int64_t bytes, int64_t alignment) {
  std::sort(taken.begin(), taken.end());
  int64_t offset = 0;
  for (const auto& [begin, end] : taken) {
    if (offset + bytes <= begin) {
      break;
    }
    offset = std::max(offset, alignUp(end, alignment));
  }
  return offset;
}

Packing pack(const std::vector<PackBuffer>& buffers, int64_t alignment,
             llvm::function_ref<bool(size_t, size_t)> conflicts) {
  const Conflicts lists = conflictLists(buffers.size(), conflicts);
  const auto size = [&](uint32_t i) { return static_cast<double>(buffers[i].bytes); };
  const auto life = [&](uint32_t i) { return buffers[i].end - buffers[i].begin; };
  const size_t n = buffers.size();
  Packing best;
  bool first = true;
  for (const auto& order : {
           orderBy(n, [&](uint32_t i) { return std::pair(-size(i), buffers[i].begin); }),
           orderBy(n, [&](uint32_t i) { return std::pair(buffers[i].begin, -size(i)); }),
           orderBy(n, [&](uint32_t i) { return std::pair(-size(i) * life(i), buffers[i].begin); }),
           orderBy(n, [&](uint32_t i) { return std::pair(-life(i), -size(i)); }),
           orderBy(n, [&](uint32_t i) { return std::pair(-buffers[i].end, -size(i)); }),
       }) {
    Packing packing = packInOrder(buffers, alignment, lists, order);
    if (first || packing.bytes < best.bytes) {
      best = std::move(packing);
      first = false;
    }
  }
  return best;
}

} // namespace dfc
