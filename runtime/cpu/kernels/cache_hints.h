// Cache hints for memory that other devices read or write. A GPU accesses host memory several times more
// slowly while private caches of many cores hold its lines. Results for other devices are therefore demoted
// to the last-level cache as they are computed, where the next step reads them too; a processor without such
// an instruction writes them by non-temporal stores. Operands from other devices are demoted once they have
// been read. Also prefetching.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace dfc {

/// Copies `bytes` from a buffer aligned to 16 bytes, past the caches where `to` is aligned alike.
inline void streamOut(std::byte* to, const std::byte* from, size_t bytes) {
  size_t done = 0;
#if defined(__SSE2__)
  if (reinterpret_cast<uintptr_t>(to) % sizeof(__m128i) == 0) {
    for (; done + sizeof(__m128i) <= bytes; done += sizeof(__m128i)) {
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + done),
                       _mm_load_si128(reinterpret_cast<const __m128i*>(from + done)));
    }
  }
#endif
  std::memcpy(to + done, from + done, bytes - done);
}

/// Orders the non-temporal stores of this thread before its later stores.
inline void endStreaming() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

/// Prefetches lines.
inline void prefetch(const std::byte* from, size_t bytes) {
  constexpr size_t line = 64;
  for (size_t i = 0; i < bytes; i += line) {
    __builtin_prefetch(from + i);
  }
}

/// The same for lines that this core is about to write. In assembly, as GCC's builtin asks for a line to
/// write only where it may assume that the processor can.
inline void prefetchToWrite(const std::byte* from, size_t bytes) {
  constexpr size_t line = 64;
  for (size_t i = 0; i < bytes; i += line) {
#if defined(__x86_64__)
    asm volatile("prefetchw %0" : : "m"(from[i]));
#else
    __builtin_prefetch(from + i, 1);
#endif
  }
}

/// Whether the processor has the instruction of `demote`.
inline bool canDemote() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (c & bit_CLDEMOTE) != 0;
#else
  return false;
#endif
}

/// Moves lines from this core's private caches to the last-level cache; nothing on a processor without such
/// an instruction.
inline void demote([[maybe_unused]] const std::byte* from, [[maybe_unused]] size_t bytes) {
#if defined(__x86_64__)
  constexpr size_t line = 64;
  for (size_t i = 0; i < bytes; i += line) {
    asm volatile("cldemote %0" : : "m"(from[i]));
  }
#endif
}

} // namespace dfc
