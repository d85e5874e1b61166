#include "ir/graph/ops/window/max_pool.h"
#include "ir/graph/rules/layout.h"
#include "ir/graph/rules/window_splits.h"
#include "ir/graph/rules/windows.h"

namespace dfc::ops {

void MaxPool::fields(AttributeVisitor& visitor) {
  visitor.field("window", window, Presence::Required);
  visitor.field("strides", strides, Presence::Optional);
  visitor.field("low", low, Presence::Optional);
  visitor.field("high", high, Presence::Optional);
  visitor.field("dilations", dilations, Presence::Optional);
  layoutField(visitor, layout);
}

TypeResult MaxPool::types(OperandTypes operands) const {
  if (layout != ImageLayout::Nchw) {
    return typesInLayout(*this, operands);
  }
  constexpr OpKind kind = OpKind::MaxPool;
  if (TypeResult elements = checkElements(kind, operands, Domain::Number); !elements.ok()) {
    return elements;
  }
  return poolTypes(kind, operands, operands[0].shape, windowAttributes(*this), false);
}

OpCost MaxPool::cost(OperandTypes operands, OperandTypes results) const {
  const Windows windows = windowsOf(channelsFirst(layout, operands[0].shape), windowAttributes(*this));
  return streamingCost(operands, results, static_cast<double>(windows.size()));
}

SplitRule MaxPool::split(OperandTypes operands, OperandTypes results) const {
  const Windows windows = windowsOf(channelsFirst(layout, operands[0].shape), windowAttributes(*this));
  return poolSplit(operands, results, layout, windows);
}

void MaxPool::restrictTo(const SplitPart& part) {
  restrictWindows(part, part.factor.operands[0], layout, low, high);
}

} // namespace dfc::ops
