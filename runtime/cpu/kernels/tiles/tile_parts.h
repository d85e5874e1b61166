// What the files of tiles/ give to one another: the arithmetic of floats and of integers apart. Users include
// tile_functions.h.
#pragma once

#include "runtime/cpu/kernels/tiles/tile_functions.h"

namespace dfc {

TileFunction floatTile(OpKind kind, ElementType lane);   ///< f32, f64
TileFunction integerTile(OpKind kind, ElementType lane); ///< i32, i64, u8

} // namespace dfc
