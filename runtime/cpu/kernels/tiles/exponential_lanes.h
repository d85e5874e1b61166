// exp and log of f32 and f64 lanes: those of hwy/contrib/math (at most 1 and 4 ulp) with their domains
// completed, so that infinities, NaN, overflow and the poles give what IEEE 754 asks for.
//
// Included once per instruction set, as lane_tiles.h is: hence its guard in the place of #pragma once.
#if defined(DFC_EXPONENTIAL_LANES) == defined(HWY_TARGET_TOGGLE)
#ifdef DFC_EXPONENTIAL_LANES
#undef DFC_EXPONENTIAL_LANES
#else
#define DFC_EXPONENTIAL_LANES
#endif

#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

#include <limits>

HWY_BEFORE_NAMESPACE();
namespace dfc {
namespace HWY_NAMESPACE {
namespace lanes {

namespace hn = hwy::HWY_NAMESPACE;

struct ExpLanes {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a) const {
    using T = hn::TFromD<D>;
    // Beyond these bounds the result is infinity or zero already, and Highway's reduction leaves its range.
    const V high = hn::Set(d, sizeof(T) == 4 ? T(100) : T(710));
    const V low = hn::Set(d, sizeof(T) == 4 ? T(-104) : T(-746));
    const V inside = hn::IfThenElse(hn::Gt(a, high), high, hn::IfThenElse(hn::Lt(a, low), low, a));
    const auto isNan = hn::IsNaN(a);
    return hn::IfThenElse(isNan, a, hn::Exp(d, hn::IfThenZeroElse(isNan, inside)));
  }
};

struct LogLanes {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a) const {
    using T = hn::TFromD<D>;
    const V infinity = hn::Set(d, std::numeric_limits<T>::infinity());
    const V one = hn::Set(d, T(1));
    const auto ordinary = hn::And(hn::Gt(a, hn::Zero(d)), hn::Lt(a, infinity));
    const V edge = hn::IfThenElse(
        hn::Eq(a, hn::Zero(d)), hn::Neg(infinity),
        hn::IfThenElse(hn::Lt(a, hn::Zero(d)), hn::Set(d, std::numeric_limits<T>::quiet_NaN()), a));
    return hn::IfThenElse(ordinary, hn::Log(d, hn::IfThenElse(ordinary, a, one)), edge);
  }
};

/// weight / (1 + e^-x), by way of e^-|x|, so that nothing overflows.
template <class D, class V>
HWY_INLINE V logistic(D d, V x, V weight) {
  const V z = ExpLanes()(d, hn::Neg(hn::Abs(x))); // NaN stays
  const V numerator = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Mul(weight, z), weight);
  return hn::Div(numerator, hn::Add(hn::Set(d, hn::TFromD<D>(1)), z));
}

} // namespace lanes
} // namespace HWY_NAMESPACE
} // namespace dfc
HWY_AFTER_NAMESPACE();

#endif
