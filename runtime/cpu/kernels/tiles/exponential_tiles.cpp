// exp, log and what is made of them on f32 and f64 lanes, with Google Highway's exp, log, log1p and tanh (at
// most 1, 4, 2 and 4 ulp). In all of them infinities, NaN and overflow give what IEEE 754 asks for.
#include "runtime/cpu/kernels/tiles/simd_targets.h"
#include "runtime/cpu/kernels/tiles/tile_parts.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/cpu/kernels/tiles/exponential_tiles.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "runtime/cpu/kernels/tiles/exponential_lanes.h"
#include "runtime/cpu/kernels/tiles/lane_tiles.h"

HWY_BEFORE_NAMESPACE();
namespace dfc {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

struct TanhLanes { // odd; rounds to 1 beyond the bound; keeps the sign of zero and NaN
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a) const {
    using T = hn::TFromD<D>;
    const V bound = hn::Set(d, sizeof(T) == 4 ? T(10) : T(20));
    const V magnitude = hn::Abs(a);
    const auto ordinary = hn::Lt(magnitude, bound); // false for NaN
    const V inside = hn::Tanh(d, hn::IfThenElseZero(ordinary, magnitude));
    const V whole = hn::IfThenElse(ordinary, inside, hn::Set(d, T(1)));
    return hn::IfThenElse(hn::IsNaN(a), a, hn::CopySign(whole, a));
  }
};
struct SigmoidLanes {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a) const {
    return lanes::logistic(d, a, hn::Set(d, hn::TFromD<D>(1)));
  }
};
struct SiluLanes { // where e^a is subnormal it has fewer bits, and so has the result: |a| units of them
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a) const {
    return lanes::logistic(d, a, a);
  }
};
struct SoftplusLanes { // max(a, 0) + log(1 + e^-|a|): nothing overflows, and small results keep their bits
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a) const {
    const V z = lanes::ExpLanes()(d, hn::Neg(hn::Abs(a)));
    return hn::Add(hn::IfThenElseZero(hn::Gt(a, hn::Zero(d)), a), hn::Log1p(d, z));
  }
};
struct GeluTanhLanes { // (1 + tanh(x)) / 2 is the sigmoid of 2 x, which does not cancel below 0
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a) const {
    using T = hn::TFromD<D>;
    const V linear = hn::Set(d, T(1.5957691216057307)), cubic = hn::Set(d, T(0.07135481627260025));
    const V x = hn::Mul(a, hn::MulAdd(cubic, hn::Mul(a, a), linear)); // 2 sqrt(2/pi) (a + 0.044715 a^3)
    return lanes::logistic(d, x, a);
  }
};

template <class T>
TileFunction exponentialTileOf(OpKind kind) {
  switch (kind) {
  case OpKind::Exp: return lanes::unaryTile<T, lanes::ExpLanes>;
  case OpKind::Log: return lanes::unaryTile<T, lanes::LogLanes>;
  case OpKind::Tanh: return lanes::unaryTile<T, TanhLanes>;
  case OpKind::Sigmoid: return lanes::unaryTile<T, SigmoidLanes>;
  case OpKind::Silu: return lanes::unaryTile<T, SiluLanes>;
  case OpKind::Softplus: return lanes::unaryTile<T, SoftplusLanes>;
  case OpKind::Gelu: return lanes::unaryTile<T, GeluTanhLanes>; // of the variant tanh
  default: return nullptr;
  }
}

TileFunction chooseExponentialTile(OpKind kind, bool wide) {
  return wide ? exponentialTileOf<double>(kind) : exponentialTileOf<float>(kind);
}

} // namespace
} // namespace HWY_NAMESPACE
} // namespace dfc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dfc {

HWY_EXPORT(chooseExponentialTile);

TileFunction exponentialTile(OpKind kind, bool wide) {
  return HWY_DYNAMIC_DISPATCH(chooseExponentialTile)(kind, wide);
}

} // namespace dfc
#endif
