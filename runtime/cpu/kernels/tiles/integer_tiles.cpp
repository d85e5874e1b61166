// Arithmetic on i32, i64 and u8 lanes. Sums and products wrap; a quotient truncates towards zero, is 0 for a
// divisor of 0 and wraps for the lowest value over -1. Plain loops, compiled once per instruction set:
// integer results are exact, so they do not depend on vectorisation.
#include "runtime/cpu/kernels/tiles/simd_targets.h"
#include "runtime/cpu/kernels/tiles/tile_parts.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/cpu/kernels/tiles/integer_tiles.cpp"
#include <hwy/foreach_target.h>

#include "runtime/cpu/kernels/tiles/scalar_tiles.h"

#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace dfc {
namespace HWY_NAMESPACE {
namespace {

using scalars::binaryTile;
using scalars::unaryTile;

// Unsigned arithmetic wraps by definition; u8 is widened by the language and cut back.
template <class T>
using Wrapping = std::make_unsigned_t<T>;

struct AddIntegers {
  template <class T>
  HWY_INLINE T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
  }
};
struct SubIntegers {
  template <class T>
  HWY_INLINE T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
  }
};
struct MulIntegers {
  template <class T>
  HWY_INLINE T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
  }
};
struct DivIntegers {
  template <class T>
  HWY_INLINE T operator()(T a, T b) const {
    if (b == 0) {
      return 0;
    }
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) {
        return static_cast<T>(Wrapping<T>(0) - static_cast<Wrapping<T>>(a));
      }
    }
    return static_cast<T>(a / b);
  }
};
struct MaximumIntegers {
  template <class T>
  HWY_INLINE T operator()(T a, T b) const {
    return a > b ? a : b;
  }
};
struct MinimumIntegers {
  template <class T>
  HWY_INLINE T operator()(T a, T b) const {
    return a < b ? a : b;
  }
};

struct NegInteger {
  template <class T>
  HWY_INLINE T operator()(T a) const {
    return SubIntegers()(T(0), a);
  }
};
struct AbsInteger { // of the lowest value that value itself
  template <class T>
  HWY_INLINE T operator()(T a) const {
    return a > T(0) ? a : NegInteger()(a);
  }
};
struct SignInteger {
  template <class T>
  HWY_INLINE T operator()(T a) const {
    if constexpr (std::is_signed_v<T>) {
      return static_cast<T>((a > T(0)) - (a < T(0)));
    }
    return static_cast<T>(a != T(0));
  }
};
struct ReluInteger {
  template <class T>
  HWY_INLINE T operator()(T a) const {
    return MaximumIntegers()(a, T(0));
  }
};

template <class T>
void clipTile(const void* const* inputs, void* output, size_t count) {
  const T* a = static_cast<const T*>(inputs[0]);
  const T* low = static_cast<const T*>(inputs[1]);
  const T* high = static_cast<const T*>(inputs[2]);
  T* out = static_cast<T*>(output);
  DFC_INDEPENDENT
  for (size_t i = 0; i < count; ++i) {
    out[i] = MinimumIntegers()(MaximumIntegers()(a[i], low[i]), high[i]);
  }
}

template <class T>
TileFunction integerTileOf(OpKind kind) {
  switch (kind) {
  case OpKind::Add: return binaryTile<T, AddIntegers>;
  case OpKind::Sub: return binaryTile<T, SubIntegers>;
  case OpKind::Mul: return binaryTile<T, MulIntegers>;
  case OpKind::Div: return binaryTile<T, DivIntegers>;
  case OpKind::Maximum: return binaryTile<T, MaximumIntegers>;
  case OpKind::Minimum: return binaryTile<T, MinimumIntegers>;
  case OpKind::Clip: return clipTile<T>;
  case OpKind::Neg: return unaryTile<T, NegInteger>;
  case OpKind::Abs: return unaryTile<T, AbsInteger>;
  case OpKind::Sign: return unaryTile<T, SignInteger>;
  case OpKind::Relu: return unaryTile<T, ReluInteger>;
  default: return nullptr;
  }
}

TileFunction chooseIntegerTile(OpKind kind, ElementType type) {
  if (type == ElementType::I32) {
    return integerTileOf<int32_t>(kind);
  }
  if (type == ElementType::I64) {
    return integerTileOf<int64_t>(kind);
  }
  return type == ElementType::U8 ? integerTileOf<uint8_t>(kind) : nullptr;
}

} // namespace
} // namespace HWY_NAMESPACE
} // namespace dfc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dfc {

HWY_EXPORT(chooseIntegerTile);

TileFunction integerTile(OpKind kind, ElementType type) {
  return HWY_DYNAMIC_DISPATCH(chooseIntegerTile)(kind, type);
}

} // namespace dfc
#endif
