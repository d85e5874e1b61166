// See philox.h.
#include "ir/base/philox.h"

namespace dfc {
namespace {

constexpr int rounds = 10;
constexpr uint32_t multiplier0 = 0xD2511F53U, multiplier1 = 0xCD9E8D57U;
// The key grows by the golden ratio and by sqrt(3) - 1, as 32-bit fractions.
constexpr uint32_t weyl0 = 0x9E3779B9U, weyl1 = 0xBB67AE85U;

} // namespace

PhiloxCounter philox(PhiloxCounter counter, PhiloxKey key) {
  for (int round = 0; round < rounds; ++round) {
    const uint64_t product0 = uint64_t(multiplier0) * counter[0];
    const uint64_t product1 = uint64_t(multiplier1) * counter[2];
    counter = {static_cast<uint32_t>(product1 >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(product1),
               static_cast<uint32_t>(product0 >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(product0)};
    key[0] += weyl0;
    key[1] += weyl1;
  }
  return counter;
}

PhiloxCounter philoxBlock(uint64_t seed, uint64_t index) {
  return philox({static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32), 0, 0},
                {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
}

} // namespace dfc
