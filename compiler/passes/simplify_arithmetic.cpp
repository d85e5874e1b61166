// Rules of elementwise arithmetic, selections and reductions. What is not here is not exact: x + 0 turns -0
// into 0, x - x is NaN for infinities, x * 0 keeps a sign, a sum of one element may start from +0.
#include "compiler/passes/simplify_rules.h"
#include "ir/graph/rules/op_rules.h"

#include <llvm/ADT/STLExtras.h>

namespace dfc::simplification {
namespace {

using Answer = std::optional<Rewrite>;

// The call may be left out for `value`, stretched to the result's shape.
Answer becomes(const Context& context, ValueId value) {
  Rewrite rewrite = context.stretched(value);
  const bool gone = std::holds_alternative<ValueId>(rewrite);
  return gone && !context.mayBecome(value) ? std::nullopt : Answer(std::move(rewrite));
}

Call callOf(OpAttributes attributes, llvm::ArrayRef<ValueId> operands) {
  return {std::move(attributes), {operands.begin(), operands.end()}};
}

// -0 + x = x, also for x = 0; an integer has one zero.
double neutralOfAdd(ElementType type) { return isFloat(type) ? -0.0 : 0.0; }

Answer simplifyAdd(const Context& context, ValueId a, ValueId b) {
  const double neutral = neutralOfAdd(context.type().element);
  if (context.isSplat(b, neutral)) {
    return becomes(context, a);
  }
  if (context.isSplat(a, neutral)) {
    return becomes(context, b);
  }
  // x + -y is x - y by the definition of subtraction in IEEE 754.
  if (const OpRow* negated = context.producer<ops::Neg>(b)) {
    return callOf(ops::Sub{}, {a, negated->operands[0]});
  }
  if (const OpRow* negated = context.producer<ops::Neg>(a)) {
    return callOf(ops::Sub{}, {b, negated->operands[0]});
  }
  return std::nullopt;
}

Answer simplifySub(const Context& context, ValueId a, ValueId b) {
  if (context.isSplat(b, 0)) { // x - +0 = x, also for x = -0
    return becomes(context, a);
  }
  if (const OpRow* negated = context.producer<ops::Neg>(b)) {
    return callOf(ops::Add{}, {a, negated->operands[0]});
  }
  return std::nullopt;
}

Answer simplifyMul(const Context& context, ValueId a, ValueId b) {
  if (context.isSplat(b, 1)) {
    return becomes(context, a);
  }
  return context.isSplat(a, 1) ? becomes(context, b) : std::nullopt;
}

Answer simplifyNeg(const Context& context, ValueId a) {
  const OpRow* negated = context.producer<ops::Neg>(a);
  return negated != nullptr ? becomes(context, negated->operands[0]) : std::nullopt;
}

Answer simplifySelect(const Context& context, const Call& call) {
  const ValueId a = call.operands[1], b = call.operands[2];
  if (a == b) {
    return becomes(context, a);
  }
  const std::optional<double> truth = context.splat(call.operands[0]);
  return truth ? becomes(context, *truth != 0 ? a : b) : std::nullopt;
}

// A maximum over axes of length 1 is the element itself; so is an integer sum (a float one may start from +0,
// and +0 + -0 is not -0).
template <class Op>
Answer simplifyReduction(const Context& context, const Op& op, ValueId operand) {
  const Shape& shape = context.shapeOf(operand);
  const std::optional<Dims> axes = normalAxes(op.axes, shape.rank());
  if (!axes || llvm::any_of(*axes, [&](int64_t axis) { return shape[static_cast<size_t>(axis)] != 1; })) {
    return std::nullopt;
  }
  ops::Reshape reshape;
  reshape.shape.assign(context.type().shape.dims().begin(), context.type().shape.dims().end());
  return callOf(reshape, {operand});
}

} // namespace

std::optional<Rewrite> simplifyArithmetic(const Context& context, const Call& call) {
  const llvm::ArrayRef<ValueId> operands = call.operands;
  switch (call.kind()) {
  case OpKind::Add: return simplifyAdd(context, operands[0], operands[1]);
  case OpKind::Sub: return simplifySub(context, operands[0], operands[1]);
  case OpKind::Mul: return simplifyMul(context, operands[0], operands[1]);
  case OpKind::Div: return context.isSplat(operands[1], 1) ? becomes(context, operands[0]) : std::nullopt;
  case OpKind::Neg: return simplifyNeg(context, operands[0]);
  case OpKind::Maximum:
  case OpKind::Minimum: return operands[0] == operands[1] ? becomes(context, operands[0]) : std::nullopt;
  case OpKind::Relu: // what is positive or 0 stays so
    return context.producer<ops::Relu>(operands[0]) != nullptr ? becomes(context, operands[0]) : std::nullopt;
  case OpKind::Select: return simplifySelect(context, call);
  case OpKind::ReduceMax: return simplifyReduction(context, *call.getIf<ops::ReduceMax>(), operands[0]);
  case OpKind::ReduceSum:
    return isFloat(context.type().element)
               ? std::nullopt
               : simplifyReduction(context, *call.getIf<ops::ReduceSum>(), operands[0]);
  default: return std::nullopt;
  }
}

} // namespace dfc::simplification
