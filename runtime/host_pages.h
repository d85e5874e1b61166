// Host memory in whole pages of its own: a backend may pin it where it lies without pinning a neighbour.
// Large blocks ask for huge pages: kernels that walk across the rows of a matrix touch more pages than a
// processor keeps the addresses of.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>

#include <sys/mman.h>

namespace dfc {

inline constexpr std::align_val_t hostPage{4096};

/// Has the system back what of these bytes is a whole huge page by one, where it can.
inline void preferHugePages(std::byte* begin, size_t bytes) {
  constexpr size_t hugePage = 2 << 20;
  if (bytes >= hugePage) {
    ::madvise(begin, bytes, MADV_HUGEPAGE); // a hint: what it answers does not matter
  }
}

/// At least `bytes`, page-aligned, in whole pages; null when the host has not that much.
inline std::byte* allocatePages(int64_t bytes) {
  constexpr auto page = static_cast<size_t>(hostPage);
  const size_t size = (static_cast<size_t>(std::max<int64_t>(bytes, 1)) + page - 1) / page * page;
  auto* const pages = static_cast<std::byte*>(::operator new(size, hostPage, std::nothrow));
  if (pages != nullptr) {
    preferHugePages(pages, size);
  }
  return pages;
}

inline void freePages(void* pages) { ::operator delete(pages, hostPage); }

} // namespace dfc
