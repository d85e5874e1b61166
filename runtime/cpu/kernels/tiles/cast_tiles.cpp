// Conversions: `cast` between compute types, and f16 and bf16 storage to and from f32 with the bits that
// ir/base/half.h gives. Float to integer truncates, saturates and takes NaN to 0; integer to a narrower
// integer wraps; to bool is `!= 0`. Plain branch-free loops, compiled once per instruction set: each
// conversion has one right result.
#include "runtime/cpu/kernels/tiles/simd_targets.h"
#include "runtime/cpu/kernels/tiles/tile_functions.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/cpu/kernels/tiles/cast_tiles.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include <bit>
#include <limits>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace dfc {
namespace HWY_NAMESPACE {
namespace {

// The storage of a bool, apart from u8 so that templates can tell them.
struct BoolLane {
  uint8_t value;
};

template <class To, class From>
HWY_INLINE To saturated(From value) {
  // 2^digits is exact in any float, unlike the largest integer itself.
  constexpr From beyond = static_cast<From>(std::numeric_limits<To>::max() / 2 + 1) * From(2);
  constexpr From lowest = static_cast<From>(std::numeric_limits<To>::lowest());
  const bool inside = value >= lowest && value < beyond; // false for NaN
  const To limit = value >= beyond  ? std::numeric_limits<To>::max()
                   : value < lowest ? std::numeric_limits<To>::lowest()
                                    : To(0);
  return inside ? static_cast<To>(inside ? value : From(0)) : limit;
}

template <class To, class From>
HWY_INLINE To castLane(From value) {
  if constexpr (std::is_same_v<From, BoolLane>) {
    return castLane<To>(value.value);
  } else if constexpr (std::is_same_v<To, BoolLane>) {
    return {static_cast<uint8_t>(value != From(0))};
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return saturated<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

template <class From, class To>
void castLanes(const void* const* inputs, void* output, size_t count) {
  const From* from = static_cast<const From*>(inputs[0]);
  To* to = static_cast<To*>(output);
  DFC_INDEPENDENT
  for (size_t i = 0; i < count; ++i) {
    to[i] = castLane<To>(from[i]);
  }
}

template <class From>
TileFunction castFrom(ElementType to) {
  switch (to) {
  case ElementType::F32: return castLanes<From, float>;
  case ElementType::F64: return castLanes<From, double>;
  case ElementType::I32: return castLanes<From, int32_t>;
  case ElementType::I64: return castLanes<From, int64_t>;
  case ElementType::U8: return castLanes<From, uint8_t>;
  case ElementType::Bool: return castLanes<From, BoolLane>;
  case ElementType::F16:
  case ElementType::BF16: return nullptr; // computed as f32
  }
  return nullptr;
}

TileFunction chooseCastTile(ElementType from, ElementType to) {
  switch (from) {
  case ElementType::F32: return castFrom<float>(to);
  case ElementType::F64: return castFrom<double>(to);
  case ElementType::I32: return castFrom<int32_t>(to);
  case ElementType::I64: return castFrom<int64_t>(to);
  case ElementType::U8: return castFrom<uint8_t>(to);
  case ElementType::Bool: return castFrom<BoolLane>(to);
  case ElementType::F16:
  case ElementType::BF16: return nullptr; // computed as f32
  }
  return nullptr;
}

// binary16. Widening: the exponent and mantissa as an f32 are too small by 2^112, subnormals included.
// Narrowing: a normal result rounds by an integer addition that carries into the exponent; a subnormal one by
// adding 0.5, whose ulp is the smallest f16.
struct Float16Code {
  static HWY_INLINE float widen(uint16_t bits) {
    const uint32_t sign = (bits & 0x8000U) << 16;
    const uint32_t magnitude = (bits & 0x7fffU) << 13;
    const uint32_t finite = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112F);
    const uint32_t special = magnitude | 0x7f800000U;
    return std::bit_cast<float>(sign | (magnitude >= 0x0f800000U ? special : finite));
  }
  static HWY_INLINE uint16_t narrow(float value) {
    const uint32_t in = std::bit_cast<uint32_t>(value);
    const uint32_t sign = (in >> 16) & 0x8000U;
    const uint32_t magnitude = in & 0x7fffffffU;
    const uint32_t normal = (magnitude - 0x38000000U + 0xfffU + ((magnitude >> 13) & 1U)) >> 13;
    const uint32_t capped = magnitude < 0x38800000U ? magnitude : 0U; // keeps the addition in range
    const uint32_t subnormal = std::bit_cast<uint32_t>(std::bit_cast<float>(capped) + 0.5F) - 0x3f000000U;
    const uint32_t small = magnitude < 0x38800000U ? subnormal : normal;
    const uint32_t large = magnitude > 0x7f800000U ? 0x7e00U : 0x7c00U;
    return static_cast<uint16_t>(sign | (magnitude >= 0x477ff000U ? large : small));
  }
};

struct BFloat16Code {
  static HWY_INLINE float widen(uint16_t bits) {
    return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  }
  static HWY_INLINE uint16_t narrow(float value) {
    const uint32_t in = std::bit_cast<uint32_t>(value);
    const uint32_t rounded = (in + 0x7fffU + ((in >> 16) & 1U)) >> 16;
    const uint32_t quiet = (in >> 16) | 0x40U;
    return static_cast<uint16_t>((in & 0x7fffffffU) > 0x7f800000U ? quiet : rounded);
  }
};

template <class Code>
void widenLanes(const void* const* inputs, void* output, size_t count) {
  const auto* from = static_cast<const uint16_t*>(inputs[0]);
  auto* to = static_cast<float*>(output);
  DFC_INDEPENDENT
  for (size_t i = 0; i < count; ++i) {
    to[i] = Code::widen(from[i]);
  }
}

template <class Code>
void narrowLanes(const void* const* inputs, void* output, size_t count) {
  const auto* from = static_cast<const float*>(inputs[0]);
  auto* to = static_cast<uint16_t*>(output);
  DFC_INDEPENDENT
  for (size_t i = 0; i < count; ++i) {
    to[i] = Code::narrow(from[i]);
  }
}

template <class Code>
void roundLanes(const void* const* inputs, void* output, size_t count) {
  const auto* from = static_cast<const float*>(inputs[0]);
  auto* to = static_cast<float*>(output);
  DFC_INDEPENDENT
  for (size_t i = 0; i < count; ++i) {
    to[i] = Code::widen(Code::narrow(from[i]));
  }
}

TileFunction chooseWidenTile(bool brain) {
  return brain ? widenLanes<BFloat16Code> : widenLanes<Float16Code>;
}
TileFunction chooseNarrowTile(bool brain) {
  return brain ? narrowLanes<BFloat16Code> : narrowLanes<Float16Code>;
}
TileFunction chooseRoundTile(bool brain) {
  return brain ? roundLanes<BFloat16Code> : roundLanes<Float16Code>;
}

} // namespace
} // namespace HWY_NAMESPACE
} // namespace dfc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dfc {

HWY_EXPORT(chooseCastTile);
HWY_EXPORT(chooseWidenTile);
HWY_EXPORT(chooseNarrowTile);
HWY_EXPORT(chooseRoundTile);

TileFunction castTile(ElementType from, ElementType to) {
  return HWY_DYNAMIC_DISPATCH(chooseCastTile)(from, to);
}
TileFunction widenTile(ElementType half) {
  return HWY_DYNAMIC_DISPATCH(chooseWidenTile)(half == ElementType::BF16);
}
TileFunction narrowTile(ElementType half) {
  return HWY_DYNAMIC_DISPATCH(chooseNarrowTile)(half == ElementType::BF16);
}
TileFunction roundTile(ElementType half) {
  return HWY_DYNAMIC_DISPATCH(chooseRoundTile)(half == ElementType::BF16);
}

} // namespace dfc
#endif
