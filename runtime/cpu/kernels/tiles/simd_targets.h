// Which instruction sets the tile functions are compiled for: the baseline of the build, SSE4, AVX2 and
// AVX-512 on x86 (whatever Highway offers elsewhere); the best one is chosen when the program runs. Include
// before any header of Highway. Also the hint that the iterations of a loop are independent even where a
// result overwrites an operand, so that in-place loops are vectorised like others.
#pragma once

// SSSE3 is left out: processors that have it but not SSE4 are too old to matter.
#define HWY_DISABLED_TARGETS HWY_SSSE3

#if defined(__clang__)
#define DFC_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define DFC_INDEPENDENT _Pragma("GCC ivdep")
#endif
