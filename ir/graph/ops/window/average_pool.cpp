// averagePool: its gradient is an op of its own, whose gradient is an averagePool again.
#include "ir/author/gradients.h"
#include "ir/graph/rules/windows.h"

namespace dfc::ops {

TypeResult AveragePool::types(OperandTypes operands) const {
  constexpr OpKind kind = OpKind::AveragePool;
  if (TypeResult elements = checkElements(kind, operands, Domain::Float); !elements.ok()) {
    return elements;
  }
  return poolTypes(kind, operands, operands[0].shape, windowAttributes(*this), countPadding);
}

OpCost AveragePool::cost(OperandTypes operands, OperandTypes results) const {
  const Windows windows = windowsOf(operands[0].shape, windowAttributes(*this));
  return streamingCost(operands, results, static_cast<double>(windows.size()) + divFlops);
}

void AveragePool::gradient(GradientRule& rule) const {
  AveragePoolGradient op;
  const llvm::ArrayRef<int64_t> dims = rule.operand(0).shape().dims();
  op.shape.assign(dims.begin(), dims.end());
  op.window = window;
  op.strides = strides;
  op.low = low;
  op.high = high;
  op.countPadding = countPadding;
  rule.give(0, rule.builder().op(std::move(op), {rule.cotangent()}, std::source_location::current()));
}

} // namespace dfc::ops
