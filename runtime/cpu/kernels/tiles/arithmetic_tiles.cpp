// Arithmetic, roots and rounding to whole numbers on f32 and f64 lanes, with Google Highway: what IEEE 754
// defines to the bit, or (rsqrt) as a sequence of such operations.
#include "runtime/cpu/kernels/tiles/simd_targets.h"
#include "runtime/cpu/kernels/tiles/tile_parts.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/cpu/kernels/tiles/arithmetic_tiles.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

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

// NaN in either operand wins: a comparison with NaN is false, so b comes through where only b is NaN. Of two
// equal operands (zeros of both signs) the first wins, as the evaluator has it.
struct MaximumLanes {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::IfThenElse(hn::Or(hn::Ge(a, b), hn::IsNaN(a)), a, b);
  }
};
struct MinimumLanes {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::IfThenElse(hn::Or(hn::Le(a, b), hn::IsNaN(a)), a, b);
  }
};
struct ClipLanes {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V low, V high) const {
    return MinimumLanes()(d, MaximumLanes()(d, a, low), high);
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
// The sign of a zero is the operand's. (Highway's functions lose it on targets without such an instruction.)
struct FloorLanes {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a) const {
    return hn::CopySign(hn::Floor(a), a);
  }
};
struct CeilLanes {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a) const {
    return hn::CopySign(hn::Ceil(a), a);
  }
};
// Halves to even, which the addition does by itself: from `whole` on there are only whole numbers. (Highway's
// Round gets halves wrong on targets without such an instruction.)
struct RoundLanes {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a) const {
    using T = hn::TFromD<D>;
    const V whole = hn::Set(d, sizeof(T) == 4 ? T(0x1p23) : T(0x1p52)), magnitude = hn::Abs(a);
    const V rounded = hn::Sub(hn::Add(magnitude, whole), whole);
    return hn::IfThenElse(hn::Lt(magnitude, whole), hn::CopySign(rounded, a), a);
  }
};

struct SqrtLanes {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a) const {
    return hn::Sqrt(a);
  }
};
struct ReciprocalLanes {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a) const {
    return hn::Div(hn::Set(d, hn::TFromD<D>(1)), a);
  }
};
struct RsqrtLanes {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a) const {
    return ReciprocalLanes()(d, hn::Sqrt(a));
  }
};

struct ReluLanes { // NaN <= 0 is false, so NaN stays
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a) const {
    return hn::IfThenZeroElse(hn::Le(a, hn::Zero(d)), a);
  }
};
struct LeakyReluLanes { // NaN >= 0 is false, and a product with NaN is NaN
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V slope) const {
    return hn::IfThenElse(hn::Ge(a, hn::Zero(d)), a, hn::Mul(a, slope));
  }
};
struct HardSwishLanes { // 6 times the rounded sixth is 1, so from 3 on the result is a
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a) const {
    using T = hn::TFromD<D>;
    const V gate = ClipLanes()(d, hn::Add(a, hn::Set(d, T(3))), hn::Zero(d), hn::Set(d, T(6)));
    return hn::Mul(a, hn::Mul(gate, hn::Set(d, T(0.16666666666666666))));
  }
};

template <class T>
TileFunction arithmeticTileOf(OpKind kind) {
  switch (kind) {
  case OpKind::Add: return lanes::binaryTile<T, AddLanes>;
  case OpKind::Sub: return lanes::binaryTile<T, SubLanes>;
  case OpKind::Mul: return lanes::binaryTile<T, MulLanes>;
  case OpKind::Div: return lanes::binaryTile<T, DivLanes>;
  case OpKind::Maximum: return lanes::binaryTile<T, MaximumLanes>;
  case OpKind::Minimum: return lanes::binaryTile<T, MinimumLanes>;
  case OpKind::Clip: return lanes::ternaryTile<T, ClipLanes>;
  case OpKind::Neg: return lanes::unaryTile<T, NegLanes>;
  case OpKind::Abs: return lanes::unaryTile<T, AbsLanes>;
  case OpKind::Sign: return lanes::unaryTile<T, SignLanes>;
  case OpKind::Floor: return lanes::unaryTile<T, FloorLanes>;
  case OpKind::Ceil: return lanes::unaryTile<T, CeilLanes>;
  case OpKind::Round: return lanes::unaryTile<T, RoundLanes>;
  case OpKind::Sqrt: return lanes::unaryTile<T, SqrtLanes>;
  case OpKind::Rsqrt: return lanes::unaryTile<T, RsqrtLanes>;
  case OpKind::Reciprocal: return lanes::unaryTile<T, ReciprocalLanes>;
  case OpKind::Relu: return lanes::unaryTile<T, ReluLanes>;
  case OpKind::LeakyRelu: return lanes::binaryTile<T, LeakyReluLanes>;
  case OpKind::HardSwish: return lanes::unaryTile<T, HardSwishLanes>;
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
