// exp, expm1, log, log1p and tanh of f32 and f64 lanes: those of hwy/contrib/math (at most 1, 4, 4, 2 and 4
// ulp) with their domains completed, so that infinities, NaN, overflow and the poles give what IEEE 754 asks
// for.
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
    // Beyond these bounds the result is infinity or zero, and the argument reduction of Highway fails.
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

struct Log1pLanes {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a) const {
    using T = hn::TFromD<D>;
    const V infinity = hn::Set(d, std::numeric_limits<T>::infinity()), least = hn::Set(d, T(-1));
    const auto ordinary = hn::And(hn::Gt(a, least), hn::Lt(a, infinity));
    const V edge =
        hn::IfThenElse(hn::Eq(a, least), hn::Neg(infinity),
                       hn::IfThenElse(hn::Lt(a, least), hn::Set(d, std::numeric_limits<T>::quiet_NaN()), a));
    return hn::IfThenElse(ordinary, hn::Log1p(d, hn::IfThenElseZero(ordinary, a)), edge);
  }
};

struct Expm1Lanes { // beyond the range of Highway's the result is e^a; keeps NaN and the sign of zero
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a) const {
    using T = hn::TFromD<D>;
    const V least = hn::Set(d, T(-100)), most = hn::Set(d, sizeof(T) == 4 ? T(80) : T(700));
    const V inside =
        hn::Expm1(d, hn::IfThenElse(hn::Lt(a, least), least, hn::IfThenElseZero(hn::Le(a, most), a)));
    const V whole = hn::IfThenElse(hn::Le(a, most), inside, ExpLanes()(d, a));
    return hn::IfThenElse(hn::Eq(a, hn::Zero(d)), a, whole);
  }
};

} // namespace lanes
} // namespace HWY_NAMESPACE
} // namespace dfc
HWY_AFTER_NAMESPACE();

#endif
