// Choices between operands and rounding to whole numbers on f32 and f64 lanes, as IEEE 754 or the evaluator
// defines them to the bit.
//
// Included once per instruction set, from files that Highway includes again and again: hence its guard in
// the place of #pragma once.
#if defined(DFC_ARITHMETIC_LANES) == defined(HWY_TARGET_TOGGLE)
#ifdef DFC_ARITHMETIC_LANES
#undef DFC_ARITHMETIC_LANES
#else
#define DFC_ARITHMETIC_LANES
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace dfc {
namespace HWY_NAMESPACE {
namespace lanes {

namespace hn = hwy::HWY_NAMESPACE;

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

} // namespace lanes
} // namespace HWY_NAMESPACE
} // namespace dfc
HWY_AFTER_NAMESPACE();

#endif
