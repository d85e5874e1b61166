#include "ir/graph/rules/layout.h"

namespace dfc {
namespace {

Shape permuted(const Shape& shape, const std::array<int64_t, 4>& axes) {
  if (shape.rank() != 4) {
    return shape;
  }
  const auto at = [&](size_t i) { return shape[static_cast<size_t>(axes[i])]; };
  return Shape{at(0), at(1), at(2), at(3)};
}

template <class Op>
Op withChannelsLast(Op op, bool keepFilter) {
  constexpr bool hasFilter = requires { Op::filterOperand; }
  || requires { Op::makesFilter; };
  op.layout = hasFilter && keepFilter ? ImageLayout::NhwcOihw : ImageLayout::Nhwc;
  if constexpr (requires { op.shape; }) {
    if (isResultLast(op)) {
      op.shape = {op.shape[0], op.shape[2], op.shape[3], op.shape[1]};
    }
  }
  return op;
}

// Calls `ask` with the attributes of an op that has a layout; returns `otherwise` for all other ops.
template <class Answer, class Ask>
Answer ofLayout(const OpAttributes& attributes, Answer otherwise, const Ask& ask) {
  switch (attributes.kind()) {
  case OpKind::Conv2d: return ask(attributes.as<ops::Conv2d>());
  case OpKind::Conv2dInputGradient: return ask(attributes.as<ops::Conv2dInputGradient>());
  case OpKind::Conv2dFilterGradient: return ask(attributes.as<ops::Conv2dFilterGradient>());
  case OpKind::MaxPool: return ask(attributes.as<ops::MaxPool>());
  case OpKind::MaxPoolGradient: return ask(attributes.as<ops::MaxPoolGradient>());
  case OpKind::AveragePool: return ask(attributes.as<ops::AveragePool>());
  case OpKind::AveragePoolGradient: return ask(attributes.as<ops::AveragePoolGradient>());
  default: return otherwise;
  }
}

using Changed = std::optional<OpAttributes>;

} // namespace

void layoutField(AttributeVisitor& visitor, ImageLayout& layout) {
  auto chosen = static_cast<uint8_t>(layout);
  visitor.choice("layout", chosen, layoutNames, Presence::Optional);
  layout = static_cast<ImageLayout>(chosen);
}

Shape channelsLast(const Shape& channelsFirst) { return permuted(channelsFirst, toChannelsLast); }
Shape channelsFirst(const Shape& channelsLast) { return permuted(channelsLast, toChannelsFirst); }

bool isOperandLast(const OpAttributes& attributes, size_t operand) {
  return ofLayout(attributes, false, [&](const auto& op) { return isOperandLast(op, operand); });
}

bool isResultLast(const OpAttributes& attributes) {
  return ofLayout(attributes, false, [](const auto& op) { return isResultLast(op); });
}

std::optional<OpAttributes> channelsFirstForm(const OpAttributes& attributes) {
  return ofLayout(attributes, Changed(), [](const auto& op) {
    return op.layout == ImageLayout::Nchw ? Changed() : Changed(withChannelsFirst(op));
  });
}

std::optional<OpAttributes> channelsLastForm(const OpAttributes& attributes, bool keepFilter) {
  return ofLayout(attributes, Changed(), [&](const auto& op) {
    return op.layout == ImageLayout::Nchw ? Changed(withChannelsLast(op, keepFilter)) : Changed();
  });
}

} // namespace dfc
