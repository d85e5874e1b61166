#include "ir/graph/ops/window/average_pool.h"
#include "ir/graph/rules/layout.h"
#include "ir/graph/rules/window_splits.h"
#include "ir/graph/rules/windows.h"

namespace dfc::ops {

void AveragePool::fields(AttributeVisitor& visitor) {
  visitor.field("window", window, Presence::Required);
  visitor.field("strides", strides, Presence::Optional);
  visitor.field("low", low, Presence::Optional);
  visitor.field("high", high, Presence::Optional);
  visitor.field("countPadding", countPadding, Presence::Optional);
  layoutField(visitor, layout);
}

TypeResult AveragePool::types(OperandTypes operands) const {
  if (layout != ImageLayout::Nchw) {
    return typesInLayout(*this, operands);
  }
  constexpr OpKind kind = OpKind::AveragePool;
  if (TypeResult elements = checkElements(kind, operands, Domain::Float); !elements.ok()) {
    return elements;
  }
  return poolTypes(kind, operands, operands[0].shape, windowAttributes(*this), countPadding);
}

OpCost AveragePool::cost(OperandTypes operands, OperandTypes results) const {
  const Windows windows = windowsOf(channelsFirst(layout, operands[0].shape), windowAttributes(*this));
  return streamingCost(operands, results, static_cast<double>(windows.size()) + divFlops);
}

SplitRule AveragePool::split(OperandTypes operands, OperandTypes results) const {
  const Windows windows = windowsOf(channelsFirst(layout, operands[0].shape), windowAttributes(*this));
  return poolSplit(operands, results, layout, windows).with({{0}});
}

void AveragePool::restrictTo(const SplitPart& part) {
  restrictWindows(part, part.factor.operands[0], layout, low, high);
}

} // namespace dfc::ops
