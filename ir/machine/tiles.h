// The seconds of matrix products on a GPU by tiles: a library divides the result into tiles, a block of
// threads each, and, where tiles are few, the inner dimension into parts (split-K); its multiprocessors take
// one block at a time (NVIDIA, "Matrix Multiplication Background User's Guide": tile and wave quantization).
// A tile of a x b loads a + b elements for the a * b sums that it adds to, so small tiles are slower: by
// Hockney's law in both sides, with n_1/2 = `halfTile` for a square tile.
#pragma once

#include "ir/graph/product_shape.h"

#include <vector>

namespace dfc {

struct TileRates {
  double peak = 0;      ///< operations a second of the device, in the largest tiles
  double halfInner = 0; ///< elements of the inner dimension in which half the peak rate is reached
  double halfTile = 0;  ///< elements of a square tile's side at half the rate
  double multiprocessors = 1;
  double launchSeconds = 0;   ///< of a kernel; one more adds up the parts
  double memoryBandwidth = 0; ///< bytes a second, for the parts of results; 0: no limit
};

inline double flopsOf(const ProductShape& product) {
  return 2 * product.count * product.rows * product.columns * product.inner;
}

/// In the tiles and parts that take least; launch and operands not counted. For products with `hasResult`.
double tiledSeconds(const ProductShape& product, const TileRates& rates);

/// A product that was timed, and its seconds.
struct TileTiming {
  ProductShape product;
  double seconds = 0; ///< launch included
  double bytes = 0;   ///< of operands and result
};
/// The half tile, of a few, by which the products' prices are nearest to their times: least mean of
/// |log(measured / priced)|. `launch`: seconds of each. 0 for no products.
double fittedHalfTile(const std::vector<TileTiming>& timed, TileRates rates, double launch);

} // namespace dfc
