// sin and cos. hwy/contrib/math has 3 ulp of f64 up to 39000 in magnitude; f32 is computed by it and rounded
// once. Beyond that the C library, which reduces any argument, computes lane by lane.
#include "runtime/cpu/kernels/tiles/simd_targets.h"
#include "runtime/cpu/kernels/tiles/tile_parts.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/cpu/kernels/tiles/trigonometric_tiles.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "runtime/cpu/kernels/tiles/lane_tiles.h"

#include <hwy/contrib/math/math-inl.h>

#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace dfc {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr double farthest = 39000;

struct Sine { // Highway's loses the sign of zero
  template <class D, class V>
  static HWY_INLINE V near(D d, V a) {
    return hn::IfThenElse(hn::Eq(a, hn::Zero(d)), a, hn::Sin(d, a));
  }
  static double far(double a) { return std::sin(a); }
};
struct Cosine {
  template <class D, class V>
  static HWY_INLINE V near(D d, V a) {
    return hn::Cos(d, a);
  }
  static double far(double a) { return std::cos(a); }
};

// `nearby` with the lanes of `a` that are far out, or NaN, computed one by one.
template <class Function, class D, class V>
HWY_NOINLINE V withFarLanes(D d, V a, V nearby) {
  HWY_ALIGN double arguments[HWY_MAX_BYTES / sizeof(double)];
  HWY_ALIGN double results[HWY_MAX_BYTES / sizeof(double)];
  hn::Store(a, d, arguments);
  hn::Store(nearby, d, results);
  for (size_t i = 0; i < hn::Lanes(d); ++i) {
    if (!(std::fabs(arguments[i]) <= farthest)) {
      results[i] = Function::far(arguments[i]);
    }
  }
  return hn::Load(d, results);
}

template <class Function>
struct Lanes {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a) const {
    const auto isNear = hn::Le(hn::Abs(a), hn::Set(d, farthest)); // false for NaN
    const V nearby = Function::near(d, hn::IfThenElseZero(isNear, a));
    return HWY_LIKELY(hn::AllTrue(d, isNear)) ? nearby : withFarLanes<Function>(d, a, nearby);
  }
};

TileFunction chooseTrigonometricTile(OpKind kind, bool wide) {
  switch (kind) {
  case OpKind::Sin:
    return wide ? lanes::unaryTile<double, Lanes<Sine>> : lanes::widenedUnaryTile<Lanes<Sine>>;
  case OpKind::Cos:
    return wide ? lanes::unaryTile<double, Lanes<Cosine>> : lanes::widenedUnaryTile<Lanes<Cosine>>;
  default: return nullptr;
  }
}

} // namespace
} // namespace HWY_NAMESPACE
} // namespace dfc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dfc {

HWY_EXPORT(chooseTrigonometricTile);

TileFunction trigonometricTile(OpKind kind, bool wide) {
  return HWY_DYNAMIC_DISPATCH(chooseTrigonometricTile)(kind, wide);
}

} // namespace dfc
#endif
