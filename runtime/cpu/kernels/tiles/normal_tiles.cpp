// erf, and gelu with the normal distribution function itself, on f32 and f64 lanes. Both come from one
// function, e^(x^2) erfc(x) for x >= 0, which is smooth and never small: with t = 1 / (1 + c x) it is t times
// a polynomial in 1 - 2 t, after Shepherd and Laframboise, "Chebyshev approximation of (1 + 2x) exp(x^2) erfc
// x in 0 <= x < infinity", Mathematics of Computation 36 (1981). Near 0 erf is x times a polynomial in x^2,
// as in Cody, "Rational Chebyshev approximations for the error function", Mathematics of Computation 23
// (1969). The coefficients are ours: minimax in relative error by Remez' exchange in 50 digits, to 2^-55
// (f64) and 2^-27 (f32).
#include "runtime/cpu/kernels/tiles/simd_targets.h"
#include "runtime/cpu/kernels/tiles/tile_parts.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/cpu/kernels/tiles/normal_tiles.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "runtime/cpu/kernels/tiles/lane_tiles.h"

#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace dfc {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
struct Numbers;

template <>
struct Numbers<float> {
  static constexpr float c = 0.34375F;
  static constexpr float tail[] = {0.3681576F,      -0.2994808F,    0.1952783F,     -0.0982892F,
                                   0.034785833F,    -0.0061090146F, -0.0012298011F, 0.00094126252F,
                                   -2.0922176e-05F, -9.122262e-05F};
  static constexpr float near[] = {1.12837923F,    -0.376126379F,  0.112837739F,
                                   -0.0268631205F, 0.00520030828F, -0.000769285311F};
  static constexpr float erfIsOne = 4;          // rounded
  static constexpr float noNormalTail = 15;     // the share below -15 underflows
  static constexpr uint32_t high = 0xfffff000U; // 12 of 24 bits, whose square is exact
};

template <>
struct Numbers<double> {
  static constexpr double c = 0.28125;
  static constexpr double tail[] = {
      0.30606070761411486,     -0.26515092333176205,   0.19799841128110496,     -0.12598579793005185,
      0.06684490084179016,     -0.028361664172528726,  0.008743013463516946,    -0.0013691343615483582,
      -0.00028370245260146503, 0.00022423725683348266, -3.0520236040692227e-05, -1.8770248281852124e-05,
      7.3614369519099805e-06,  1.2859979435527592e-06, -1.166001471612875e-06,  -7.9010154481943e-08,
      1.7807522570330705e-07,  8.074121309597124e-09,  -2.6830573469511008e-08, -2.8106452948830725e-09,
      3.0018806256220106e-09,  7.29972177595551e-10};
  static constexpr double near[] = {1.1283791670955126,     -0.37612638903183754,    0.11283791670954864,
                                    -0.026866170644997654,  0.005223977621974562,    -0.0008548326505839159,
                                    0.00012055285871013896, -1.4922990295838226e-05, 1.6370955957084287e-06,
                                    -1.4618441321282917e-07};
  static constexpr double erfIsOne = 6;
  static constexpr double noNormalTail = 39;
  static constexpr uint64_t high = 0xfffffffff8000000U; // 26 of 53 bits
};

// e^(x^2) erfc(x), x >= 0.
template <class D, class V>
HWY_INLINE V scaledTail(D d, V x) {
  using T = hn::TFromD<D>;
  const V one = hn::Set(d, T(1));
  const V t = hn::Div(one, hn::MulAdd(hn::Set(d, Numbers<T>::c), x, one));
  // 1 - 2 t as 2 c x t - 1: where x is small that keeps its bits, and elsewhere t's error half cancels.
  const V s = hn::MulSub(hn::Mul(hn::Set(d, 2 * Numbers<T>::c), x), t, one);
  return hn::Mul(t, lanes::polynomial(d, s, Numbers<T>::tail));
}

// e^(-x^2 / 2). A rounded square would cost x^2 / 2 times its error: what it lost is added back, from a
// square that is exact (Dekker 1971).
template <class D, class V>
HWY_INLINE V bell(D d, V x) {
  using T = hn::TFromD<D>;
  const hn::RebindToUnsigned<D> bits;
  const V square = hn::Mul(x, x), half = hn::Set(d, T(0.5));
  const V high = hn::BitCast(d, hn::And(hn::BitCast(bits, x), hn::Set(bits, Numbers<T>::high)));
  const V lost = hn::MulAdd(hn::Sub(x, high), hn::Add(x, high), hn::Sub(hn::Mul(high, high), square));
  const V power = hn::Exp(d, hn::Neg(hn::Mul(half, square)));
  return hn::NegMulAdd(hn::Mul(half, lost), power, power);
}

template <class D, class V>
HWY_INLINE V atMost(D d, V x, hn::TFromD<D> bound) { // which NaN becomes
  const V most = hn::Set(d, bound);
  return hn::IfThenElse(hn::Lt(x, most), x, most);
}

struct ErfLanes { // at least 0.48 = erfc(0.5) is taken from 1: nothing cancels
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a) const {
    using T = hn::TFromD<D>;
    const V magnitude = hn::Abs(a), x = atMost(d, magnitude, Numbers<T>::erfIsOne);
    const V near = hn::Mul(a, lanes::polynomial(d, hn::Mul(a, a), Numbers<T>::near));
    const V tail = hn::Mul(scaledTail(d, x), hn::Exp(d, hn::Neg(hn::Mul(x, x))));
    const V far = hn::CopySign(hn::Sub(hn::Set(d, T(1)), tail), a);
    const auto isNear = hn::Lt(magnitude, hn::Set(d, T(0.5)));
    return hn::IfThenElse(isNear, near, hn::IfThenElse(hn::IsNaN(a), a, far));
  }
};

struct GeluLanes { // a times the share below a; below 0 the product is taken in the order that underflows
                   // last
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a) const {
    using T = hn::TFromD<D>;
    const V x = atMost(d, hn::Abs(a), Numbers<T>::noNormalTail), density = bell(d, x);
    const V tail = hn::Mul(hn::Set(d, T(0.5)), scaledTail(d, hn::Mul(x, hn::Set(d, T(0.7071067811865476)))));
    const V below = hn::Mul(hn::Mul(a, tail), density);
    const V above = hn::Mul(a, hn::NegMulAdd(tail, density, hn::Set(d, T(1))));
    return hn::IfThenElse(hn::Lt(a, hn::Zero(d)), below, above);
  }
};

template <class T>
TileFunction normalTileOf(OpKind kind) {
  switch (kind) {
  case OpKind::Erf: return lanes::unaryTile<T, ErfLanes>;
  case OpKind::Gelu: return lanes::unaryTile<T, GeluLanes>;
  default: return nullptr;
  }
}

TileFunction chooseNormalTile(OpKind kind, bool wide) {
  return wide ? normalTileOf<double>(kind) : normalTileOf<float>(kind);
}

} // namespace
} // namespace HWY_NAMESPACE
} // namespace dfc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dfc {

HWY_EXPORT(chooseNormalTile);

TileFunction normalTile(OpKind kind, bool wide) { return HWY_DYNAMIC_DISPATCH(chooseNormalTile)(kind, wide); }

} // namespace dfc
#endif
