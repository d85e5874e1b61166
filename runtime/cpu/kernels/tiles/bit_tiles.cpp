// and, or, xor and not on bool, u8, i32 and i64 lanes, bit by bit. Plain loops, compiled once per instruction
// set: results are exact, so they do not depend on vectorisation.
#include "runtime/cpu/kernels/tiles/simd_targets.h"
#include "runtime/cpu/kernels/tiles/tile_parts.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/cpu/kernels/tiles/bit_tiles.cpp"
#include <hwy/foreach_target.h>

#include "runtime/cpu/kernels/tiles/scalar_tiles.h"

HWY_BEFORE_NAMESPACE();
namespace dfc {
namespace HWY_NAMESPACE {
namespace {

using scalars::binaryTile;
using scalars::unaryTile;

struct AndBits {
  template <class Bits>
  HWY_INLINE Bits operator()(Bits a, Bits b) const {
    return static_cast<Bits>(a & b);
  }
};
struct OrBits {
  template <class Bits>
  HWY_INLINE Bits operator()(Bits a, Bits b) const {
    return static_cast<Bits>(a | b);
  }
};
struct XorBits {
  template <class Bits>
  HWY_INLINE Bits operator()(Bits a, Bits b) const {
    return static_cast<Bits>(a ^ b);
  }
};

// `mask`: the bits that an element has; a bool has one.
template <class Bits, Bits mask>
struct NotBits {
  HWY_INLINE Bits operator()(Bits a) const { return static_cast<Bits>(a ^ mask); }
};

template <class Bits, Bits mask>
TileFunction bitTileOf(OpKind kind) {
  switch (kind) {
  case OpKind::And: return binaryTile<Bits, AndBits>;
  case OpKind::Or: return binaryTile<Bits, OrBits>;
  case OpKind::Xor: return binaryTile<Bits, XorBits>;
  case OpKind::Not: return unaryTile<Bits, NotBits<Bits, mask>>;
  default: return nullptr;
  }
}

TileFunction chooseBitTile(OpKind kind, ElementType type) {
  switch (type) {
  case ElementType::I32: return bitTileOf<uint32_t, ~uint32_t{0}>(kind);
  case ElementType::I64: return bitTileOf<uint64_t, ~uint64_t{0}>(kind);
  case ElementType::U8: return bitTileOf<uint8_t, 0xff>(kind);
  case ElementType::Bool: return bitTileOf<uint8_t, 1>(kind);
  case ElementType::F32:
  case ElementType::F64:
  case ElementType::F16:
  case ElementType::BF16: return nullptr; // bitwise ops do not take floats
  }
  return nullptr;
}

} // namespace
} // namespace HWY_NAMESPACE
} // namespace dfc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dfc {

HWY_EXPORT(chooseBitTile);

TileFunction bitTile(OpKind kind, ElementType type) {
  return HWY_DYNAMIC_DISPATCH(chooseBitTile)(kind, type);
}

} // namespace dfc
#endif
