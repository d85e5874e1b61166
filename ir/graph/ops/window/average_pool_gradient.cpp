#include "ir/graph/ops/window/average_pool_gradient.h"
#include "ir/graph/rules/layout.h"
#include "ir/graph/rules/window_splits.h"
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

// Where a mean is of the elements without the padding, a part cannot tell a neighbour from padding.
SplitRule AveragePoolGradient::split(OperandTypes operands, OperandTypes results) const {
  SplitRule rule = sameAxesSplit(operands, results, {imageAxis(layout, 0), imageAxis(layout, 1)});
  const Windows windows = windowsOf(channelsFirst(layout, results[0].shape), windowAttributes(*this));
  const auto padded = [](const Dims& dims) {
    return llvm::any_of(dims, [](int64_t dim) { return dim > 0; });
  };
  for (const size_t axis : {2U, 3U}) {
    if (windowsCover(windows, axis) && (countPadding || (!padded(low) && !padded(high)))) {
      SplitFactor factor(SplitKind::Window, (axis == 2 ? windows.rows : windows.columns).length, 1, 1);
      factor.operands[0] = windowsOfElements(operands[0], layout, windows, axis);
      factor.results[0] = alongAxis(results[0], imageAxis(layout, axis));
      rule.add(std::move(factor));
    }
  }
  return std::move(rule).with({{0}});
}

void AveragePoolGradient::restrictTo(const SplitPart& part) {
  const Shape image = part.resultType(0).shape;
  shape.assign(image.dims().begin(), image.dims().end());
  if (part.factor.operands[0].form == SplitAxis::Form::Backward) {
    restrictElements(part, part.factor.operands[0], layout, low, high);
    countPadding = true;
  }
}

} // namespace dfc::ops
