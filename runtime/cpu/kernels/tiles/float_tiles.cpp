// Arithmetic and transcendental functions on f32 and f64 lanes, with Google Highway. exp, log and tanh are
// those of hwy/contrib/math (at most 4 ulp) with their domains completed here: infinities, NaN, overflow and
// the poles give what IEEE 754 asks for.
#include "runtime/cpu/kernels/tiles/simd_targets.h"
#include "runtime/cpu/kernels/tiles/tile_parts.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/cpu/kernels/tiles/float_tiles.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

#include <limits>

HWY_BEFORE_NAMESPACE();
namespace dfc {
namespace HWY_NAMESPACE {
namespace {

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
struct SigmoidLanes { // with z = exp(-|a|) <= 1: 1 / (1 + z) or z / (1 + z), so nothing overflows
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a) const {
    const V one = hn::Set(d, hn::TFromD<D>(1));
    const V z = ExpLanes()(d, hn::Neg(hn::Abs(a)));
    const V numerator = hn::IfThenElse(hn::Lt(a, hn::Zero(d)), z, one);
    return hn::IfThenElse(hn::IsNaN(a), a, hn::Div(numerator, hn::Add(one, z)));
  }
};

// The last elements of a tile as a vector padded with zeros.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> loadLast(D d, const T* from, size_t count) {
  HWY_ALIGN T padded[HWY_MAX_BYTES / sizeof(T)] = {};
  for (size_t i = 0; i < count; ++i) {
    padded[i] = from[i];
  }
  return hn::Load(d, padded);
}

template <class D, class T = hn::TFromD<D>>
HWY_INLINE void storeLast(D d, hn::Vec<D> value, T* to, size_t count) {
  HWY_ALIGN T padded[HWY_MAX_BYTES / sizeof(T)];
  hn::Store(value, d, padded);
  for (size_t i = 0; i < count; ++i) {
    to[i] = padded[i];
  }
}

template <class T, class Lanes>
void unaryTile(const void* const* inputs, void* output, size_t count) {
  const hn::ScalableTag<T> d;
  const size_t width = hn::Lanes(d);
  const T* a = static_cast<const T*>(inputs[0]);
  T* out = static_cast<T*>(output);
  size_t i = 0;
  for (; i + width <= count; i += width) {
    hn::StoreU(Lanes()(d, hn::LoadU(d, a + i)), d, out + i);
  }
  if (i < count) {
    storeLast(d, Lanes()(d, loadLast(d, a + i, count - i)), out + i, count - i);
  }
}

template <class T, class Lanes>
void binaryTile(const void* const* inputs, void* output, size_t count) {
  const hn::ScalableTag<T> d;
  const size_t width = hn::Lanes(d);
  const T* a = static_cast<const T*>(inputs[0]);
  const T* b = static_cast<const T*>(inputs[1]);
  T* out = static_cast<T*>(output);
  size_t i = 0;
  for (; i + width <= count; i += width) {
    hn::StoreU(Lanes()(d, hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, out + i);
  }
  if (i < count) {
    const size_t left = count - i;
    storeLast(d, Lanes()(d, loadLast(d, a + i, left), loadLast(d, b + i, left)), out + i, left);
  }
}

template <class T>
TileFunction floatTileOf(OpKind kind) {
  if (kind == OpKind::Add) {
    return binaryTile<T, AddLanes>;
  }
  if (kind == OpKind::Sub) {
    return binaryTile<T, SubLanes>;
  }
  if (kind == OpKind::Mul) {
    return binaryTile<T, MulLanes>;
  }
  if (kind == OpKind::Div) {
    return binaryTile<T, DivLanes>;
  }
  if (kind == OpKind::Maximum) {
    return binaryTile<T, MaximumLanes>;
  }
  if (kind == OpKind::Minimum) {
    return binaryTile<T, MinimumLanes>;
  }
  if (kind == OpKind::Neg) {
    return unaryTile<T, NegLanes>;
  }
  if (kind == OpKind::Exp) {
    return unaryTile<T, ExpLanes>;
  }
  if (kind == OpKind::Log) {
    return unaryTile<T, LogLanes>;
  }
  if (kind == OpKind::Sqrt) {
    return unaryTile<T, SqrtLanes>;
  }
  if (kind == OpKind::Tanh) {
    return unaryTile<T, TanhLanes>;
  }
  if (kind == OpKind::Sigmoid) {
    return unaryTile<T, SigmoidLanes>;
  }
  return kind == OpKind::Relu ? unaryTile<T, ReluLanes> : nullptr;
}

TileFunction chooseFloatTile(OpKind kind, bool wide) {
  return wide ? floatTileOf<double>(kind) : floatTileOf<float>(kind);
}

} // namespace
} // namespace HWY_NAMESPACE
} // namespace dfc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dfc {

HWY_EXPORT(chooseFloatTile);

TileFunction floatTile(OpKind kind, ElementType lane) {
  return HWY_DYNAMIC_DISPATCH(chooseFloatTile)(kind, lane == ElementType::F64);
}

} // namespace dfc
#endif
