// Which caches hold what another device writes or reads next. A GPU that reads host memory whose lines are
// dirty in the caches of many cores, or writes memory whose lines they still hold, takes about three times as
// long (seen on an H200's host: 4 MiB in 250 to 300 us in place of 88). So results that leave are moved on to
// the last cache as they are made, from where the next step reads them too, or go past the caches where the
// processor cannot do that (seen in the figure on that host: 3 % slower); and operands that came are moved on
// once they are read. And what this core asks for before it needs it.
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

/// Makes what this thread streamed out visible before what it stores next.
inline void endStreaming() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

/// Brings lines near.
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

/// Moves lines from this core's caches to the last one. A processor that has no such instruction does
/// nothing.
inline void demote([[maybe_unused]] const std::byte* from, [[maybe_unused]] size_t bytes) {
#if defined(__x86_64__)
  constexpr size_t line = 64;
  for (size_t i = 0; i < bytes; i += line) {
    asm volatile("cldemote %0" : : "m"(from[i]));
  }
#endif
}

} // namespace dfc
