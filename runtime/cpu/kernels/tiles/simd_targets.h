// Which instruction sets the tile functions are compiled for: the baseline of the build, SSE4, AVX2 and
// AVX-512 on x86 (whatever Highway offers elsewhere); the best one is chosen when the program runs. Include
// before any header of Highway. Also the hint that a loop's iterations are independent even where a result
// lies on an operand, so that in-place runs are vectorised like the rest.
#pragma once

// Between the baseline and SSE4: no processor that anyone computes on stops there.
#define HWY_DISABLED_TARGETS HWY_SSSE3

#if defined(__clang__)
#define DFC_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define DFC_INDEPENDENT _Pragma("GCC ivdep")
#endif
