// Arithmetic, roots and rounding to whole numbers on f32 and f64 lanes, with Google Highway: what IEEE 754
// defines to the bit.
#include "runtime/cpu/kernels/tiles/simd_targets.h"
#include "runtime/cpu/kernels/tiles/tile_parts.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/cpu/kernels/tiles/arithmetic_tiles.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "runtime/cpu/kernels/tiles/arithmetic_lanes.h"
#include "runtime/cpu/kernels/tiles/lane_tiles.h"

HWY_BEFORE_NAMESPACE();
namespace dfc {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

struct AddLanes {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Add(a, b);
  }
};
struct SubLanes {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Sub(a, b);
  }
};
struct MulLanes {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Mul(a, b);
  }
};
struct DivLanes {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Div(a, b);
  }
};

struct NegLanes {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a) const {
    return hn::Neg(a);
  }
};
struct AbsLanes {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a) const {
    return hn::Abs(a);
  }
};
struct SignLanes { // zeros and NaN stay
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a) const {
    const V one = hn::Set(d, hn::TFromD<D>(1));
    return hn::IfThenElse(hn::Or(hn::Eq(a, hn::Zero(d)), hn::IsNaN(a)), a, hn::CopySign(one, a));
  }
};
struct SqrtLanes {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a) const {
    return hn::Sqrt(a);
  }
};
struct ReluLanes { // NaN <= 0 is false, so NaN stays
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a) const {
    return hn::IfThenZeroElse(hn::Le(a, hn::Zero(d)), a);
  }
};
template <class T>
TileFunction arithmeticTileOf(OpKind kind) {
  switch (kind) {
  case OpKind::Add: return lanes::binaryTile<T, AddLanes>;
  case OpKind::Sub: return lanes::binaryTile<T, SubLanes>;
  case OpKind::Mul: return lanes::binaryTile<T, MulLanes>;
  case OpKind::Div: return lanes::binaryTile<T, DivLanes>;
  case OpKind::Maximum: return lanes::binaryTile<T, lanes::MaximumLanes>;
  case OpKind::Minimum: return lanes::binaryTile<T, lanes::MinimumLanes>;
  case OpKind::Clip: return lanes::ternaryTile<T, lanes::ClipLanes>;
  case OpKind::Neg: return lanes::unaryTile<T, NegLanes>;
  case OpKind::Abs: return lanes::unaryTile<T, AbsLanes>;
  case OpKind::Sign: return lanes::unaryTile<T, SignLanes>;
  case OpKind::Floor: return lanes::unaryTile<T, lanes::FloorLanes>;
  case OpKind::Ceil: return lanes::unaryTile<T, lanes::CeilLanes>;
  case OpKind::Round: return lanes::unaryTile<T, lanes::RoundLanes>;
  case OpKind::Sqrt: return lanes::unaryTile<T, SqrtLanes>;
  case OpKind::Relu: return lanes::unaryTile<T, ReluLanes>;
  default: return nullptr;
  }
}

TileFunction chooseArithmeticTile(OpKind kind, bool wide) {
  return wide ? arithmeticTileOf<double>(kind) : arithmeticTileOf<float>(kind);
}

} // namespace
} // namespace HWY_NAMESPACE
} // namespace dfc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dfc {

HWY_EXPORT(chooseArithmeticTile);

TileFunction floatArithmeticTile(OpKind kind, bool wide) {
  return HWY_DYNAMIC_DISPATCH(chooseArithmeticTile)(kind, wide);
}

} // namespace dfc
#endif
