#include "runtime/cpu/kernels/tiles/chain_tiles.h"
#include "runtime/cpu/kernels/tiles/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/cpu/kernels/tiles/chain_tiles.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "runtime/cpu/kernels/tiles/arithmetic_lanes.h"
#include "runtime/cpu/kernels/tiles/lane_tiles.h"

#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace dfc {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Lanes = hn::ScalableTag<float>;
using Vector = hn::Vec<Lanes>;

// Reads whole vectors of an input.
struct Whole {
  HWY_INLINE Vector operator()(const float* from) const { return hn::LoadU(Lanes(), from); }
};
// Reads the last elements, padded.
struct Last {
  size_t count;
  HWY_INLINE Vector operator()(const float* from) const { return lanes::loadLast(Lanes(), from, count); }
};

template <class Op>
HWY_INLINE Vector inOrder(const ChainLink& link, Vector value, Vector other, Op op) {
  return link.isSecond ? op(other, value) : op(value, other);
}

template <class Load>
HWY_INLINE Vector clipped(const ChainLink& link, Vector value, size_t at, Load load) {
  const Lanes d;
  if (link.hasOneBound && !std::isnan(*link.other) &&
      !std::isnan(*link.third)) { // the same, with less to ask
    const Vector low = hn::Set(d, *link.other), high = hn::Set(d, *link.third);
    const Vector raised = hn::IfThenElse(hn::Lt(value, low), low, value);
    return hn::IfThenElse(hn::Gt(raised, high), high, raised);
  }
  return lanes::ClipLanes()(d, value, load(link.other + at), load(link.third + at));
}

// `values`: vectors that lie one after the other, from element `at` of the tile.
template <size_t vectors, class Load>
HWY_INLINE void apply(const ChainLink& link, Vector (&values)[vectors], size_t at, Load load) {
  const Lanes d;
  const size_t width = hn::Lanes(d);
  const auto each = [&](auto op) HWY_ATTR {
    for (size_t i = 0; i < vectors; ++i) {
      values[i] = inOrder(link, values[i], load(link.other + at + i * width), op);
    }
  };
  switch (link.kind) {
  case ChainKind::Add: return each([](Vector a, Vector b) HWY_ATTR { return hn::Add(a, b); });
  case ChainKind::Sub: return each([](Vector a, Vector b) HWY_ATTR { return hn::Sub(a, b); });
  case ChainKind::Mul: return each([](Vector a, Vector b) HWY_ATTR { return hn::Mul(a, b); });
  case ChainKind::Maximum:
    return each([d](Vector a, Vector b) HWY_ATTR { return lanes::MaximumLanes()(d, a, b); });
  case ChainKind::Minimum:
    return each([d](Vector a, Vector b) HWY_ATTR { return lanes::MinimumLanes()(d, a, b); });
  case ChainKind::Relu:
    for (Vector& value : values) {
      value = hn::IfThenZeroElse(hn::Le(value, hn::Zero(d)), value);
    }
    return;
  case ChainKind::Clip:
    for (size_t i = 0; i < vectors; ++i) {
      values[i] = clipped(link, values[i], at + i * width, load);
    }
    return;
  }
}

void chain(const ChainLink* links, size_t linkCount, const float* value, float* output, size_t count) {
  const Lanes d;
  const size_t width = hn::Lanes(d);
  size_t at = 0;
  for (; at + 4 * width <= count; at += 4 * width) {
    Vector values[4] = {hn::LoadU(d, value + at), hn::LoadU(d, value + at + width),
                        hn::LoadU(d, value + at + 2 * width), hn::LoadU(d, value + at + 3 * width)};
    for (size_t link = 0; link < linkCount; ++link) {
      apply(links[link], values, at, Whole());
    }
    for (size_t i = 0; i < 4; ++i) {
      hn::StoreU(values[i], d, output + at + i * width);
    }
  }
  for (; at < count; at += width) {
    const size_t left = count - at;
    Vector values[1] = {left < width ? lanes::loadLast(d, value + at, left) : hn::LoadU(d, value + at)};
    for (size_t link = 0; link < linkCount; ++link) {
      left < width ? apply(links[link], values, at, Last{left}) : apply(links[link], values, at, Whole());
    }
    if (left < width) {
      lanes::storeLast(d, values[0], output + at, left);
    } else {
      hn::StoreU(values[0], d, output + at);
    }
  }
}

} // namespace
} // namespace HWY_NAMESPACE
} // namespace dfc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dfc {

HWY_EXPORT(chain);

std::optional<ChainKind> chainKindOf(OpKind kind) {
  switch (kind) {
  case OpKind::Add: return ChainKind::Add;
  case OpKind::Sub: return ChainKind::Sub;
  case OpKind::Mul: return ChainKind::Mul;
  case OpKind::Maximum: return ChainKind::Maximum;
  case OpKind::Minimum: return ChainKind::Minimum;
  case OpKind::Relu: return ChainKind::Relu;
  case OpKind::Clip: return ChainKind::Clip;
  default: return std::nullopt;
  }
}

void runChain(const ChainLink* links, size_t linkCount, const float* value, float* output, size_t count) {
  HWY_DYNAMIC_DISPATCH(chain)(links, linkCount, value, output, count);
}

} // namespace dfc
#endif
