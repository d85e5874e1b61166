// Philox 4x32-10: a counter-based random generator (Salmon, Moraes, Dror and Shaw, "Parallel random numbers:
// as easy as 1, 2, 3", SC 2011). A block is a function of counter and key alone, so any element of a random
// tensor can be made by itself, in any order, with the same bits anywhere.
#pragma once

#include <array>
#include <cstdint>

namespace dfc {

using PhiloxCounter = std::array<uint32_t, 4>;
using PhiloxKey = std::array<uint32_t, 2>;

/// 128 random bits; least significant word of the counter first, as in Random123.
PhiloxCounter philox(PhiloxCounter counter, PhiloxKey key);

/// The block of element `index` of the stream that `seed` names.
PhiloxCounter philoxBlock(uint64_t seed, uint64_t index);

} // namespace dfc
