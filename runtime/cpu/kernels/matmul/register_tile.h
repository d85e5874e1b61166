// The innermost product: a register tile of c, packed strips of a and b.
#pragma once

#include <cstdint>

namespace dfc {

/// tile[rows, columns] += a b, with a[inner][rows] and b[inner][columns] packed. `columns` depends on the
/// processor's vectors and is at most 64.
template <class Sum>
struct RegisterTile {
  static constexpr int64_t rows = 6;
  int64_t columns;
  void (*multiply)(int64_t inner, const Sum* a, const Sum* b, Sum* tile);
};

inline constexpr int64_t widestTile = 64;

RegisterTile<double> doubleTile();
RegisterTile<uint32_t> word32Tile();
RegisterTile<uint64_t> word64Tile();

} // namespace dfc
