// The tile functions of all formula ops, each from its body (formula_lanes.h).
#include "runtime/cpu/kernels/tiles/simd_targets.h"
#include "runtime/cpu/kernels/tiles/tile_parts.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/cpu/kernels/tiles/formula_tiles.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "runtime/cpu/kernels/tiles/formula_lanes.h"
#include "runtime/cpu/kernels/tiles/lane_tiles.h"

HWY_BEFORE_NAMESPACE();
namespace dfc {
namespace HWY_NAMESPACE {
namespace {

template <class T, class Op, uint8_t variant>
TileFunction tileOf() {
  using Lanes = lanes::FormulaLanes<Op, variant>;
  static_assert(Op::arity.most >= 1 && Op::arity.most <= 3);
  if constexpr (Op::arity.most == 1) {
    return lanes::unaryTile<T, Lanes>;
  } else if constexpr (Op::arity.most == 2) {
    return lanes::binaryTile<T, Lanes>;
  } else {
    return lanes::ternaryTile<T, Lanes>;
  }
}

template <class T, class Op>
TileFunction tileOfVariant(uint8_t variant) {
  return [&]<size_t... known>(std::index_sequence<known...>) {
    TileFunction found = nullptr;
    ((variant == known ? void(found = tileOf<T, Op, known>()) : void()), ...);
    return found;
  }
  (std::make_index_sequence<Op::variantCount>());
}

template <class T>
TileFunction formulaTileOf(OpKind kind, uint8_t variant) {
  switch (kind) {
#define DFC_OP(Type, text)
#define DFC_ELEMENTWISE_OP(Type, text)
#define DFC_FORMULA_OP(Type, name)                                                                           \
  case OpKind::Type:                                                                                         \
    return tileOfVariant<T, ops::Type>(variant);
#include "ir/graph/ops.def"
#undef DFC_OP
  default: return nullptr;
  }
}

TileFunction chooseFormulaTile(OpKind kind, uint8_t variant, bool wide) {
  return wide ? formulaTileOf<double>(kind, variant) : formulaTileOf<float>(kind, variant);
}

} // namespace
} // namespace HWY_NAMESPACE
} // namespace dfc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dfc {

HWY_EXPORT(chooseFormulaTile);

TileFunction formulaTile(OpKind kind, uint8_t variant, bool wide) {
  return HWY_DYNAMIC_DISPATCH(chooseFormulaTile)(kind, variant, wide);
}

} // namespace dfc
#endif
