// What randomUniform makes of 32 random bits: the one definition for the evaluator and the cpu kernels, which
// the text of the CUDA kernel repeats. Every number is exact in its type, and neither 0 nor 1, so that its
// logarithm, and the logarithm of that, are finite.
#pragma once

#include <cstdint>

namespace dfc {

/// An odd multiple of 2^-24, of the upper 23 bits.
inline float uniformFloat(uint32_t word) { return static_cast<float>((word >> 9U) * 2U + 1U) * 0x1p-24F; }
/// An odd multiple of 2^-33.
inline double uniformDouble(uint32_t word) { return (static_cast<double>(word) + 0.5) * 0x1p-32; }

} // namespace dfc
