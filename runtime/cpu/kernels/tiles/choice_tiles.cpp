// compare and select on every compute type. Plain loops, compiled once per instruction set: neither rounds,
// so results do not depend on vectorisation.
#include "runtime/cpu/kernels/tiles/simd_targets.h"
#include "runtime/cpu/kernels/tiles/tile_functions.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/cpu/kernels/tiles/choice_tiles.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace dfc {
namespace HWY_NAMESPACE {
namespace {

using Direction = ops::Compare::Direction;

template <Direction direction, class T>
HWY_INLINE bool holds(T a, T b) {
  switch (direction) {
  case Direction::Eq: return a == b;
  case Direction::Ne: return a != b;
  case Direction::Lt: return a < b;
  case Direction::Le: return a <= b;
  case Direction::Gt: return a > b;
  case Direction::Ge: return a >= b;
  }
  return false;
}

template <Direction direction, class T>
void compareLanes(const void* const* inputs, void* output, size_t count) {
  const T* a = static_cast<const T*>(inputs[0]);
  const T* b = static_cast<const T*>(inputs[1]);
  auto* out = static_cast<uint8_t*>(output);
  DFC_INDEPENDENT
  for (size_t i = 0; i < count; ++i) {
    out[i] = static_cast<uint8_t>(holds<direction>(a[i], b[i]));
  }
}

template <class T>
TileFunction compareOf(Direction direction) {
  switch (direction) {
  case Direction::Eq: return compareLanes<Direction::Eq, T>;
  case Direction::Ne: return compareLanes<Direction::Ne, T>;
  case Direction::Lt: return compareLanes<Direction::Lt, T>;
  case Direction::Le: return compareLanes<Direction::Le, T>;
  case Direction::Gt: return compareLanes<Direction::Gt, T>;
  case Direction::Ge: return compareLanes<Direction::Ge, T>;
  }
  return nullptr;
}

TileFunction chooseCompareTile(Direction direction, ElementType type) {
  switch (type) {
  case ElementType::F32: return compareOf<float>(direction);
  case ElementType::F64: return compareOf<double>(direction);
  case ElementType::I32: return compareOf<int32_t>(direction);
  case ElementType::I64: return compareOf<int64_t>(direction);
  case ElementType::U8:
  case ElementType::Bool: return compareOf<uint8_t>(direction);
  case ElementType::F16:
  case ElementType::BF16: return nullptr; // computed as f32
  }
  return nullptr;
}

template <class Bits>
void selectLanes(const void* const* inputs, void* output, size_t count) {
  const auto* condition = static_cast<const uint8_t*>(inputs[0]);
  const Bits* a = static_cast<const Bits*>(inputs[1]);
  const Bits* b = static_cast<const Bits*>(inputs[2]);
  Bits* out = static_cast<Bits*>(output);
  DFC_INDEPENDENT
  for (size_t i = 0; i < count; ++i) {
    const Bits whenTrue = a[i];
    const Bits whenFalse = b[i];
    out[i] = condition[i] != 0 ? whenTrue : whenFalse;
  }
}

TileFunction chooseSelectTile(ElementType type) {
  switch (type) {
  case ElementType::F32:
  case ElementType::I32: return selectLanes<uint32_t>;
  case ElementType::F64:
  case ElementType::I64: return selectLanes<uint64_t>;
  case ElementType::U8:
  case ElementType::Bool: return selectLanes<uint8_t>;
  case ElementType::F16:
  case ElementType::BF16: return nullptr; // computed as f32
  }
  return nullptr;
}

} // namespace
} // namespace HWY_NAMESPACE
} // namespace dfc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dfc {

HWY_EXPORT(chooseCompareTile);
HWY_EXPORT(chooseSelectTile);

TileFunction compareTile(ops::Compare::Direction direction, ElementType type) {
  return HWY_DYNAMIC_DISPATCH(chooseCompareTile)(direction, type);
}

TileFunction selectTile(ElementType type) { return HWY_DYNAMIC_DISPATCH(chooseSelectTile)(type); }

} // namespace dfc
#endif
