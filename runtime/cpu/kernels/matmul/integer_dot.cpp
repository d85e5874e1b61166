#include "runtime/cpu/kernels/matmul/integer_dot.h"
#include "runtime/cpu/kernels/tiles/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/cpu/kernels/matmul/integer_dot.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace dfc {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Vector accumulators of a run, two of each kind: independent multiply-adds hide the latency of one another.
template <bool halves>
float sumOfRun(const uint8_t* weights, int64_t bytes, const float* x, const float* ofHigh) {
  const hn::CappedTag<float, 16> d;
  const hn::Rebind<uint8_t, decltype(d)> narrow;
  const hn::Rebind<int32_t, decltype(d)> wide;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto zero = hn::Set(wide, halves ? 8 : 128), low = hn::Set(wide, 15);
  auto first = hn::Zero(d), second = hn::Zero(d);
  const auto add = [&](auto sum, auto q, const float* values) {
    return hn::MulAdd(hn::ConvertTo(d, hn::Sub(q, zero)), hn::LoadU(d, values), sum);
  };
  int64_t i = 0;
  for (; i + 2 * lanes <= bytes; i += 2 * lanes) {
    const auto a = hn::PromoteTo(wide, hn::LoadU(narrow, weights + i));
    const auto b = hn::PromoteTo(wide, hn::LoadU(narrow, weights + i + lanes));
    if constexpr (halves) {
      first = add(first, hn::And(a, low), x + i);
      second = add(second, hn::ShiftRight<4>(a), ofHigh + i);
      first = add(first, hn::And(b, low), x + i + lanes);
      second = add(second, hn::ShiftRight<4>(b), ofHigh + i + lanes);
    } else {
      first = add(first, a, x + i);
      second = add(second, b, x + i + lanes);
    }
  }
  float sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(first, second)));
  for (; i < bytes; ++i) {
    if constexpr (halves) {
      sum += static_cast<float>((weights[i] & 15) - 8) * x[i] +
             static_cast<float>((weights[i] >> 4) - 8) * ofHigh[i];
    } else {
      sum += static_cast<float>(weights[i] - 128) * x[i];
    }
  }
  return sum;
}

template <bool halves>
float dotOf(const IntegerRow& row, const float* x) {
  float sum = 0;
  for (int64_t at = 0, run = 0; at < row.bytes; at += row.runBytes, ++run) {
    sum += row.scales[run] * sumOfRun<halves>(row.weights + at, row.runBytes, x + at, x + row.bytes + at);
  }
  return sum;
}

IntegerDot chooseDotOfBytes() { return dotOf<false>; }
IntegerDot chooseDotOfHalves() { return dotOf<true>; }

} // namespace
} // namespace HWY_NAMESPACE
} // namespace dfc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dfc {

HWY_EXPORT(chooseDotOfBytes);
HWY_EXPORT(chooseDotOfHalves);

IntegerDot dotOfBytes() { return HWY_DYNAMIC_DISPATCH(chooseDotOfBytes)(); }
IntegerDot dotOfHalves() { return HWY_DYNAMIC_DISPATCH(chooseDotOfHalves)(); }

} // namespace dfc
#endif
