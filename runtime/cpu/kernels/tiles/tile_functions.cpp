// Which file of tiles/ has an op's arithmetic.
#include "runtime/cpu/kernels/tiles/tile_functions.h"

#include "runtime/cpu/kernels/tiles/tile_parts.h"

namespace dfc {
namespace {

TileFunction floatTile(OpKind kind, uint8_t variant, bool wide) {
  if (kind == OpKind::Gelu) {
    const bool exact = static_cast<ops::Gelu::Approximation>(variant) == ops::Gelu::Approximation::None;
    return exact ? normalTile(kind, wide) : exponentialTile(kind, wide);
  }
  for (auto* const theme : {floatArithmeticTile, exponentialTile, normalTile, powerTile, trigonometricTile}) {
    if (const TileFunction function = theme(kind, wide)) {
      return function;
    }
  }
  return nullptr;
}

} // namespace

TileFunction arithmeticTile(OpKind kind, ElementType lane, uint8_t variant) {
  if (lane == ElementType::F32 || lane == ElementType::F64) {
    return floatTile(kind, variant, lane == ElementType::F64);
  }
  const TileFunction ofBits = bitTile(kind, lane);
  return ofBits != nullptr ? ofBits : integerTile(kind, lane);
}

} // namespace dfc
