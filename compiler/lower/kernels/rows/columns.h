// What softmax along an axis that is not the last is made of: tiles of neighbouring rows, each a column of
// the tile, and a extent of their classes, which a block holds in its registers.
#pragma once

#include "compiler/lower/kernels/rows/rows.h"

namespace dfc::cuda {

/// A tile: `columns` packs of `width` neighbouring rows, and `lanes` threads for each, which hold `perThread`
/// classes.
struct ColumnTile {
  int64_t width = 1, columns = 1, lanes = 1, perThread = 1;
  int64_t threads() const { return columns * lanes; }
  int64_t neighbours() const { return columns * width; }
  int64_t extent() const { return lanes * perThread; } ///< classes that fit in
};

/// A tile that holds whole rows; none where they are too long for one block.
std::optional<ColumnTile> wholeColumns(ElementType element, int64_t classes, int64_t packs, int64_t width,
                                       const GpuShape& gpu);
/// A tile for a part of long rows.
ColumnTile partOfColumns(ElementType element, int64_t classes, int64_t packs, int64_t width);

/// The tile's numbers, Lanes, of which Shared has one, and what loads a tile, sums up its columns into that,
/// and writes their results. Goes behind `rowsHead` and the constants `inner` and `rows`.
std::string columnTileText(const ColumnTile& tile);
/// sizeof Lanes.
int64_t columnTileShared(const ColumnTile& tile, ElementType element);
/// Makes the workspace's first bytes zero, up to a multiple of 16.
GeneratedLaunch clearedWorkspace(int64_t bytes);

} // namespace dfc::cuda
