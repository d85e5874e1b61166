// The body of a formula op on lanes: its program, unrolled by the compiler, in which every instruction is a
// function of whole vectors. sin, cos, erf, erfc and pow call the C library, a lane at a time: a formula that
// spends its time there should have a kernel of its own (tile_functions.cpp has the overrides).
//
// Included once per instruction set, from files that Highway includes again and again: hence its guard in the
// place of #pragma once.
#if defined(DFC_FORMULA_LANES) == defined(HWY_TARGET_TOGGLE)
#ifdef DFC_FORMULA_LANES
#undef DFC_FORMULA_LANES
#else
#define DFC_FORMULA_LANES
#endif

#include "ir/graph/op.h"
#include "runtime/cpu/kernels/tiles/arithmetic_lanes.h"
#include "runtime/cpu/kernels/tiles/exponential_lanes.h"

#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace dfc {
namespace HWY_NAMESPACE {
namespace lanes {

namespace hn = hwy::HWY_NAMESPACE;

using formula::Instruction;
using formula::Primitive;

template <size_t number, class First, class... Others>
HWY_INLINE auto pick(First first, Others... others) {
  if constexpr (number == 0) {
    return first;
  } else {
    return pick<number - 1>(others...);
  }
}

template <Primitive primitive, class T>
T ofOneLane(T a, T b) {
  if constexpr (primitive == Primitive::Sin) {
    return std::sin(a);
  } else if constexpr (primitive == Primitive::Cos) {
    return std::cos(a);
  } else if constexpr (primitive == Primitive::Erf) {
    return std::erf(a);
  } else if constexpr (primitive == Primitive::Erfc) {
    return std::erfc(a);
  } else {
    return std::pow(a, b);
  }
}

template <Primitive primitive, class D, class V>
HWY_INLINE V laneByLane(D d, V a, V b) {
  using T = hn::TFromD<D>;
  HWY_ALIGN T left[HWY_MAX_BYTES / sizeof(T)];
  HWY_ALIGN T right[HWY_MAX_BYTES / sizeof(T)];
  hn::Store(a, d, left);
  hn::Store(b, d, right);
  for (size_t i = 0; i < hn::Lanes(d); ++i) {
    left[i] = ofOneLane<primitive>(left[i], right[i]);
  }
  return hn::Load(d, left);
}

template <Primitive primitive, class D, class V>
HWY_INLINE V unary(D d, V a) {
  switch (primitive) {
  case Primitive::Neg: return hn::Neg(a);
  case Primitive::Abs: return hn::Abs(a);
  case Primitive::Sqrt: return hn::Sqrt(a);
  case Primitive::Exp: return ExpLanes()(d, a);
  case Primitive::Log: return LogLanes()(d, a);
  case Primitive::Log1p: return Log1pLanes()(d, a);
  case Primitive::Log1pWithin: return hn::Log1p(d, a);
  case Primitive::Expm1: return Expm1Lanes()(d, a);
  case Primitive::Tanh: return TanhLanes()(d, a);
  case Primitive::Floor: return FloorLanes()(d, a);
  case Primitive::Ceil: return CeilLanes()(d, a);
  case Primitive::Round: return RoundLanes()(d, a);
  default: return laneByLane<primitive>(d, a, a);
  }
}

template <Primitive primitive, class D, class V>
HWY_INLINE V binary(D d, V a, V b) {
  switch (primitive) {
  case Primitive::Add: return hn::Add(a, b);
  case Primitive::Sub: return hn::Sub(a, b);
  case Primitive::Mul: return hn::Mul(a, b);
  case Primitive::Div: return hn::Div(a, b);
  case Primitive::Max: return MaximumLanes()(d, a, b);
  case Primitive::Min: return MinimumLanes()(d, a, b);
  default: return laneByLane<primitive>(d, a, b);
  }
}

template <class Op, uint8_t variant>
struct FormulaLanes;

template <OpKind kind>
struct CalledOp; // the struct of a formula op
#define DFC_OP(Type, text)
#define DFC_ELEMENTWISE_OP(Type, text)
#define DFC_FORMULA_OP(Type, name)                                                                           \
  template <>                                                                                                \
  struct CalledOp<OpKind::Type> {                                                                            \
    using Op = ops::Type;                                                                                    \
  };
#include "ir/graph/ops.def"
#undef DFC_OP

template <class Op, uint8_t variant>
struct FormulaLanes {
  template <class D, class... V>
  HWY_INLINE auto operator()(D d, V... operands) const {
    return next<0, sizeof...(V)>(d, operands...);
  }

 private:
  // `values`: the operands, then one for each instruction before number `at`.
  template <size_t at, size_t operands, class D, class... V>
  static HWY_INLINE auto next(D d, V... values) {
    constexpr const formula::Program& program = formula::bodyOf<Op, variant>;
    if constexpr (at == program.size()) {
      return pick<operands + program.result()>(values...);
    } else {
      return next<at + 1, operands>(d, values..., instruction<at, operands>(d, values...));
    }
  }

  template <size_t at, size_t operands, class D, class... V>
  static HWY_INLINE auto instruction(D d, V... values) {
    constexpr Instruction step = formula::bodyOf<Op, variant>[at];
    constexpr size_t a = operands + step.inputs[0], b = operands + step.inputs[1],
                     c = operands + step.inputs[2];
    if constexpr (step.primitive == Primitive::Argument) {
      return pick<step.callee>(values...);
    } else if constexpr (step.primitive == Primitive::Constant) {
      return hn::Set(d, static_cast<hn::TFromD<D>>(static_cast<double>(step.value)));
    } else if constexpr (step.primitive == Primitive::Call) {
      constexpr FormulaLanes<typename CalledOp<step.kind()>::Op, step.variant> callee;
      if constexpr (step.operands == 1) {
        return callee(d, pick<a>(values...));
      } else if constexpr (step.operands == 2) {
        return callee(d, pick<a>(values...), pick<b>(values...));
      } else {
        return callee(d, pick<a>(values...), pick<b>(values...), pick<c>(values...));
      }
    } else if constexpr (step.primitive == Primitive::Less) {
      return hn::Lt(pick<a>(values...), pick<b>(values...));
    } else if constexpr (step.primitive == Primitive::LessEqual) {
      return hn::Le(pick<a>(values...), pick<b>(values...));
    } else if constexpr (step.primitive == Primitive::Select) {
      return hn::IfThenElse(pick<a>(values...), pick<b>(values...), pick<c>(values...));
    } else if constexpr (step.primitive == Primitive::Clip) {
      return ClipLanes()(d, pick<a>(values...), pick<b>(values...), pick<c>(values...));
    } else if constexpr (step.primitive == Primitive::MulAdd) {
      return hn::MulAdd(pick<a>(values...), pick<b>(values...), pick<c>(values...));
    } else if constexpr (step.operands == 1) {
      return unary<step.primitive>(d, pick<a>(values...));
    } else {
      return binary<step.primitive>(d, pick<a>(values...), pick<b>(values...));
    }
  }
};

} // namespace lanes
} // namespace HWY_NAMESPACE
} // namespace dfc
HWY_AFTER_NAMESPACE();

#endif
