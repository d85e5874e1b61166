// Shared by the files of tiles/: the tile functions of each file, a group of ops a file. Each function
// returns null for ops of other files. Users include tile_functions.h.
#pragma once

#include "runtime/cpu/kernels/tiles/tile_functions.h"

namespace dfc {

// f32 lanes, or (`wide`) f64.
TileFunction floatArithmeticTile(OpKind kind, bool wide);
TileFunction exponentialTile(OpKind kind, bool wide);
TileFunction normalTile(OpKind kind, bool wide); ///< gelu: that of the variant none
TileFunction formulaTile(OpKind kind, uint8_t variant, bool wide);
TileFunction powerTile(OpKind kind, bool wide);
TileFunction trigonometricTile(OpKind kind, bool wide);

TileFunction integerTile(OpKind kind, ElementType type); ///< i32, i64, u8
TileFunction bitTile(OpKind kind, ElementType type);     ///< the same and bool

} // namespace dfc
