// What a thread does between two looks at a word that another thread will write.
#pragma once

namespace dfc {

inline void pauseCpu() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

} // namespace dfc
