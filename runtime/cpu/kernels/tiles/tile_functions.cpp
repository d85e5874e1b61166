// Dispatch from an op to the file of tiles/ that has its arithmetic.
#include "runtime/cpu/kernels/tiles/tile_functions.h"

#include "runtime/cpu/kernels/tiles/tile_parts.h"

namespace dfc {
namespace {

// The formula ops with arithmetic of their own instead of their body.
struct Override {
  OpKind kind;
  uint8_t variant;
  TileFunction (*function)(OpKind kind, bool wide);
};
constexpr Override overrides[] = {
    {OpKind::Gelu, static_cast<uint8_t>(Approximation::None), normalTile}, // one polynomial for both tails
};

TileFunction floatTile(OpKind kind, uint8_t variant, bool wide) {
  for (const Override& row : overrides) {
    if (row.kind == kind && row.variant == variant) {
      return row.function(kind, wide);
    }
  }
  if (const TileFunction function = formulaTile(kind, variant, wide)) {
    return function;
  }
  for (auto* const theme : {floatArithmeticTile, exponentialTile, normalTile, powerTile, trigonometricTile}) {
    if (const TileFunction function = theme(kind, wide)) {
      return function;
    }
  }
  return nullptr;
}

} // namespace

TileFunction arithmeticTile(OpKind kind, ElementType type, uint8_t variant) {
  if (type == ElementType::F32 || type == ElementType::F64) {
    return floatTile(kind, variant, type == ElementType::F64);
  }
  const TileFunction ofBits = bitTile(kind, type);
  return ofBits != nullptr ? ofBits : integerTile(kind, type);
}

} // namespace dfc
