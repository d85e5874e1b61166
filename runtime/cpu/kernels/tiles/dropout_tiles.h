// Tile functions of dropout: the random words, bit for bit those of ir/base/philox.h, and their application.
// Plain loops over many elements that the compiler vectorises.
#pragma once

#include "runtime/cpu/kernels/tiles/tile_functions.h"

namespace dfc {

struct DropoutFunctions {
  /// words[4 b + i] = word i of Philox block (first + b, step) of the key `seed`, for `blocks` blocks, at
  /// most tileElements / 4.
  void (*words)(uint64_t seed, uint64_t step, uint64_t first, size_t blocks, uint32_t* words);
  /// to[i] = words[i] < threshold ? 0 : from[i] * factor; `to` may be `from`.
  void (*f32)(const float* from, const uint32_t* words, uint32_t threshold, float factor, float* to,
              size_t count);
  void (*f64)(const double* from, const uint32_t* words, uint32_t threshold, double factor, double* to,
              size_t count);
};

DropoutFunctions dropoutFunctions();

} // namespace dfc
