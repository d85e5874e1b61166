// Waves of tiles: a GPU's library computes a product in tiles, a block of threads each, and its
// multiprocessors take one tile at a time; in the last wave, or the only one, some have none (NVIDIA, "Matrix
// Multiplication Background User's Guide", tile and wave quantization).
#pragma once

#include "ir/graph/product_shape.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace dfc {

/// Rows and columns of a tile, the least that libraries use: a larger one makes fewer tiles, so the part
/// below is at least the real one. With 64 the quickest algorithms of cuBLASLt on an H200 beat their
/// predictions by up to a quarter (f32 within IEEE and f64, products of 64 to 256); with 32 none does.
inline constexpr double tileExtent = 32;
/// Least elements of the inner dimension in a part, where a library divides a tile's sum (split-K).
inline constexpr double leastSplit = 256;

/// The part of the multiprocessors, over 0 and at most 1, that tiles keep busy on average: tiles / (waves *
/// multiprocessors), with tiles split in the most favourable number of parts. 1 for 0 multiprocessors, and
/// where the result's extents are not known.
inline double busyPart(const ProductShape& product, uint32_t multiprocessors) {
  if (!product.hasResult() || multiprocessors == 0) {
    return 1;
  }
  const double places = multiprocessors;
  const double tiles =
      product.count * std::ceil(product.rows / tileExtent) * std::ceil(product.columns / tileExtent);
  const double mostParts = std::clamp(std::floor(product.inner / leastSplit), 1.0, places);
  double best = 0;
  for (double parts = 1; parts <= mostParts && best < 1; ++parts) {
    const double blocks = tiles * parts;
    best = std::max(best, blocks / (std::ceil(blocks / places) * places));
  }
  return best;
}

} // namespace dfc
