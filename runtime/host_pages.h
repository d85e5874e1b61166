// Host memory in whole pages of its own: a backend may pin it where it lies without pinning a neighbour.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>

namespace dfc {

inline constexpr std::align_val_t hostPage{4096};

/// At least `bytes`, page-aligned, in whole pages; null when the host has not that much.
inline std::byte* allocatePages(int64_t bytes) {
  constexpr auto page = static_cast<size_t>(hostPage);
  const size_t size = (static_cast<size_t>(std::max<int64_t>(bytes, 1)) + page - 1) / page * page;
  return static_cast<std::byte*>(::operator new(size, hostPage, std::nothrow));
}

inline void freePages(void* pages) { ::operator delete(pages, hostPage); }

} // namespace dfc
