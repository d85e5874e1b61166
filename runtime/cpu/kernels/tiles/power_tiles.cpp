// pow, with the special cases of C's (IEEE 754-2019, 9.2.1). On f32 lanes e^(b log|a|) in f64: its error (the
// exponent is below 104, its error below 2^-43) is far below half an ulp of f32. f64 would need the logarithm
// in two parts; it calls the C library, lane by lane.
#include "runtime/cpu/kernels/tiles/simd_targets.h"
#include "runtime/cpu/kernels/tiles/tile_parts.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/cpu/kernels/tiles/power_tiles.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "runtime/cpu/kernels/tiles/exponential_lanes.h"
#include "runtime/cpu/kernels/tiles/lane_tiles.h"

#include <cmath>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace dfc {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

struct PowLanes { // of f64 that hold f32
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V b) const {
    const V zero = hn::Zero(d), one = hn::Set(d, 1.0), magnitude = hn::Abs(a);
    const V infinity = hn::Set(d, std::numeric_limits<double>::infinity());
    const V nan = hn::Set(d, std::numeric_limits<double>::quiet_NaN());
    const V exponent = hn::Mul(b, lanes::LogLanes()(d, magnitude));
    // An infinite power of 1 or -1 is 1, where the product is 0 times infinity.
    const auto ofOne = hn::And(hn::Eq(magnitude, one), hn::Eq(b, b));
    const V size = lanes::ExpLanes()(d, hn::IfThenElse(ofOne, zero, exponent));
    const V half = hn::Mul(b, hn::Set(d, 0.5));
    const auto whole = hn::Eq(hn::Floor(b), b); // as infinities are
    const auto odd = hn::And(whole, hn::Ne(hn::Floor(half), half));
    const V power = hn::IfThenElse(odd, hn::CopySign(size, a), size);
    const auto below = hn::And(hn::Lt(a, zero), hn::Lt(magnitude, infinity));
    const V real = hn::IfThenElse(hn::AndNot(whole, below), nan, power);
    return hn::IfThenElse(hn::Or(hn::Eq(b, zero), hn::Eq(a, one)), one, real);
  }
};

TileFunction choosePowerTile() { return lanes::widenedBinaryTile<PowLanes>; }

} // namespace
} // namespace HWY_NAMESPACE
} // namespace dfc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dfc {

HWY_EXPORT(choosePowerTile);

namespace {

void doublePowers(const void* const* inputs, void* output, size_t count) {
  const auto* a = static_cast<const double*>(inputs[0]);
  const auto* b = static_cast<const double*>(inputs[1]);
  auto* out = static_cast<double*>(output);
  for (size_t i = 0; i < count; ++i) {
    out[i] = std::pow(a[i], b[i]);
  }
}

} // namespace

TileFunction powerTile(OpKind kind, bool wide) {
  if (kind != OpKind::Pow) {
    return nullptr;
  }
  return wide ? doublePowers : HWY_DYNAMIC_DISPATCH(choosePowerTile)();
}

} // namespace dfc
#endif
