// Philox4x32-10 (see ir/base/philox.h) on many blocks at once, as a structure of arrays: word w of all blocks
// is contiguous, so that Philox rounds are plain arithmetic on four arrays.
#include "runtime/cpu/kernels/tiles/dropout_tiles.h"
#include "runtime/cpu/kernels/tiles/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/cpu/kernels/tiles/dropout_tiles.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace dfc {
namespace HWY_NAMESPACE {
namespace {

constexpr size_t together = 16; // blocks that are computed at once

struct Blocks {
  uint32_t word[4][together];
};

HWY_INLINE void rounds(Blocks& blocks, uint32_t key0, uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    for (size_t i = 0; i < together; ++i) {
      const uint64_t product0 = uint64_t(0xD2511F53U) * blocks.word[0][i];
      const uint64_t product1 = uint64_t(0xCD9E8D57U) * blocks.word[2][i];
      const uint32_t word0 = static_cast<uint32_t>(product1 >> 32) ^ blocks.word[1][i] ^ key0;
      const uint32_t word2 = static_cast<uint32_t>(product0 >> 32) ^ blocks.word[3][i] ^ key1;
      blocks.word[0][i] = word0;
      blocks.word[1][i] = static_cast<uint32_t>(product1);
      blocks.word[2][i] = word2;
      blocks.word[3][i] = static_cast<uint32_t>(product0);
    }
    key0 += 0x9E3779B9U;
    key1 += 0xBB67AE85U;
  }
}

void randomWords(uint64_t seed, uint64_t step, uint64_t first, size_t count, uint32_t* words) {
  for (size_t at = 0; at < count; at += together) {
    Blocks blocks;
    for (size_t i = 0; i < together; ++i) {
      const uint64_t block = first + at + i;
      blocks.word[0][i] = static_cast<uint32_t>(block);
      blocks.word[1][i] = static_cast<uint32_t>(block >> 32);
      blocks.word[2][i] = static_cast<uint32_t>(step);
      blocks.word[3][i] = static_cast<uint32_t>(step >> 32);
    }
    rounds(blocks, static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32));
    const size_t blocksHere = std::min(together, count - at);
    for (size_t i = 0; i < blocksHere; ++i) {
      for (size_t w = 0; w < 4; ++w) {
        words[4 * (at + i) + w] = blocks.word[w][i];
      }
    }
  }
}

template <class T>
void drop(const T* from, const uint32_t* words, uint32_t threshold, T factor, T* to, size_t count) {
  DFC_INDEPENDENT
  for (size_t i = 0; i < count; ++i) {
    const T kept = from[i] * factor;
    to[i] = words[i] < threshold ? T(0) : kept;
  }
}

DropoutFunctions chooseDropout() { return {randomWords, drop<float>, drop<double>}; }

} // namespace
} // namespace HWY_NAMESPACE
} // namespace dfc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dfc {

HWY_EXPORT(chooseDropout);
DropoutFunctions dropoutFunctions() { return HWY_DYNAMIC_DISPATCH(chooseDropout)(); }

} // namespace dfc
#endif
