// The reduction that generated products of few rows end in: a warp adds up the partial sums of its lanes.
#pragma once

#include <string_view>

namespace dfc::cuda {

/// CUDA text, to stand behind the constants `rows` and `together`. Adds the lanes' partial sums by shuffles,
/// in a fixed order; lane 0 stores them in line `sharer` of the shared memory, from column `own` on.
constexpr std::string_view warpSumsText = R"(
template <class Shared>
DFC_INLINE void storeWarpSums(f32 (&sums)[rows][together], int lane, int sharer, int own, Shared& shared) {
#pragma unroll
  for (int r = 0; r < rows; ++r) {
#pragma unroll
    for (int c = 0; c < together; ++c) {
#pragma unroll
      for (int apart = 16; apart > 0; apart /= 2) {
        sums[r][c] += __shfl_xor_sync(0xffffffffu, sums[r][c], apart);
      }
      if (lane == 0) shared.at[r][sharer][own + c] = sums[r][c];
    }
  }
}
)";

} // namespace dfc::cuda
