// exp, log and tanh on f32 and f64 lanes (exponential_lanes.h).
#include "runtime/cpu/kernels/tiles/simd_targets.h"
#include "runtime/cpu/kernels/tiles/tile_parts.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/cpu/kernels/tiles/exponential_tiles.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "runtime/cpu/kernels/tiles/exponential_lanes.h"
#include "runtime/cpu/kernels/tiles/lane_tiles.h"

HWY_BEFORE_NAMESPACE();
namespace dfc {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
TileFunction exponentialTileOf(OpKind kind) {
  switch (kind) {
  case OpKind::Exp: return lanes::unaryTile<T, lanes::ExpLanes>;
  case OpKind::Log: return lanes::unaryTile<T, lanes::LogLanes>;
  case OpKind::Tanh: return lanes::unaryTile<T, lanes::TanhLanes>;
  default: return nullptr;
  }
}

TileFunction chooseExponentialTile(OpKind kind, bool wide) {
  return wide ? exponentialTileOf<double>(kind) : exponentialTileOf<float>(kind);
}

} // namespace
} // namespace HWY_NAMESPACE
} // namespace dfc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dfc {

HWY_EXPORT(chooseExponentialTile);

TileFunction exponentialTile(OpKind kind, bool wide) {
  return HWY_DYNAMIC_DISPATCH(chooseExponentialTile)(kind, wide);
}

} // namespace dfc
#endif
