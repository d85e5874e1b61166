#include "ir/graph/ops/window/max_pool_gradient.h"
#include "ir/graph/rules/layout.h"
#include "ir/graph/rules/window_splits.h"
#include "ir/graph/rules/windows.h"

#include <fmt/format.h>

namespace dfc::ops {

void MaxPoolGradient::fields(AttributeVisitor& visitor) {
  visitor.field("window", window, Presence::Required);
  visitor.field("strides", strides, Presence::Optional);
  visitor.field("low", low, Presence::Optional);
  visitor.field("high", high, Presence::Optional);
  visitor.field("dilations", dilations, Presence::Optional);
  layoutField(visitor, layout);
}

TypeResult MaxPoolGradient::types(OperandTypes operands) const {
  if (layout != ImageLayout::Nchw) {
    return typesInLayout(*this, operands);
  }
  constexpr OpKind kind = OpKind::MaxPoolGradient;
  if (TypeResult elements = checkElements(kind, operands, Domain::Float); !elements.ok()) {
    return elements;
  }
  TypeResult pooled = poolTypes(kind, operands, operands[0].shape, windowAttributes(*this), false);
  if (pooled.ok() && !(pooled.types[0] == operands[1])) {
    return refuse(kind, operands,
                  fmt::format("maxPool of {} gives {}", toString(operands[0]), toString(pooled.types[0])),
                  "give the attributes of the maxPool whose gradient this is");
  }
  return pooled.ok() ? TypeResult::of(operands[0]) : pooled;
}

OpCost MaxPoolGradient::cost(OperandTypes operands, OperandTypes results) const {
  OpCost cost = streamingCost(operands, results, 0);
  const Windows windows = windowsOf(channelsFirst(layout, operands[0].shape), windowAttributes(*this));
  cost.flops = (static_cast<double>(windows.size()) + 1) * static_cast<double>(operands[1].shape.elements());
  return cost;
}

// Windows are not cut: the parts of an element that several windows share would have to be added.
SplitRule MaxPoolGradient::split(OperandTypes operands, OperandTypes results) const {
  SplitRule rule = sameAxesSplit(operands, results, {imageAxis(layout, 0), imageAxis(layout, 1)});
  for (SplitFactor& factor : rule.factors) {
    factor.operands[1] = alongAxis(operands[1], factor.operands[0].axis);
  }
  return std::move(rule).with({{1}});
}

} // namespace dfc::ops
