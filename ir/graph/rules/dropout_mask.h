// Which elements a dropout drops, and what it multiplies the others by: the one definition for the evaluator,
// the cpu kernels and the text of the CUDA kernels. Element i is dropped where word i mod 4 of the Philox
// block with the counter (i / 4, step) and the key `seed` is below `threshold`.
#pragma once

#include "ir/base/philox.h"
#include "ir/graph/tensor_type.h"

namespace dfc {

struct DropoutMask {
  /// 0 <= rate < 1. `element`: of the operand; f16 and bf16 are multiplied in f32.
  DropoutMask(double rate, ElementType element);
  uint32_t threshold; ///< floor(rate 2^32): a rate is met to 2^-32
  double factor;      ///< 1 / (1 - rate), rounded to f32 (f64 for f64)
};

/// The words of elements 4 block, …, 4 block + 3.
PhiloxCounter dropoutWords(uint64_t seed, uint64_t step, uint64_t block);

} // namespace dfc
