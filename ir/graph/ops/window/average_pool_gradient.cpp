#include "ir/graph/ops/window/average_pool_gradient.h"
#include "ir/graph/rules/layout.h"
#include "ir/graph/rules/windows.h"

#include <fmt/format.h>

namespace dfc::ops {

void AveragePoolGradient::fields(AttributeVisitor& visitor) {
  visitor.field("shape", shape, Presence::Required);
  visitor.field("window", window, Presence::Required);
  visitor.field("strides", strides, Presence::Optional);
  visitor.field("low", low, Presence::Optional);
  visitor.field("high", high, Presence::Optional);
  visitor.field("countPadding", countPadding, Presence::Optional);
  layoutField(visitor, layout);
}

TypeResult AveragePoolGradient::types(OperandTypes operands) const {
  if (layout != ImageLayout::Nchw) {
    return typesInLayout(*this, operands);
  }
  constexpr OpKind kind = OpKind::AveragePoolGradient;
  if (TypeResult elements = checkElements(kind, operands, Domain::Float); !elements.ok()) {
    return elements;
  }
  if (TypeResult known = checkImageShape(kind, operands, shape); !known.ok()) {
    return known;
  }
  TypeResult pooled = poolTypes(kind, operands, Shape(shape), windowAttributes(*this), countPadding);
  if (pooled.ok() && !(pooled.types[0] == operands[0])) {
    return refuse(
        kind, operands,
        fmt::format("averagePool of {} gives {}", toString(Shape(shape)), toString(pooled.types[0].shape)),
        "give the attributes and the shape of the averagePool whose gradient this is");
  }
  return pooled.ok() ? TypeResult::of({operands[0].element, Shape(shape)}) : pooled;
}

OpCost AveragePoolGradient::cost(OperandTypes operands, OperandTypes results) const {
  OpCost cost = streamingCost(operands, results, 0);
  const Windows windows = windowsOf(channelsFirst(layout, Shape(shape)), windowAttributes(*this));
  cost.flops =
      (static_cast<double>(windows.size()) + divFlops) * static_cast<double>(operands[0].shape.elements());
  return cost;
}

} // namespace dfc::ops
