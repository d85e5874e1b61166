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
Op withChannelsLast(Op op) {
  if constexpr (requires { op.shape; }) {
    op.shape = {op.shape[0], op.shape[2], op.shape[3], op.shape[1]};
  }
  op.layout = ImageLayout::Nhwc;
  return op;
}

// Applies `change` to an op that has the layout `from`.
template <class Change>
std::optional<OpAttributes> changed(const OpAttributes& attributes, ImageLayout from, const Change& change) {
  const auto of = [&](const auto& op) {
    return op.layout == from ? std::optional<OpAttributes>(change(op)) : std::nullopt;
  };
  switch (attributes.kind()) {
  case OpKind::Conv2d: return of(attributes.as<ops::Conv2d>());
  case OpKind::Conv2dInputGradient: return of(attributes.as<ops::Conv2dInputGradient>());
  case OpKind::Conv2dFilterGradient: return of(attributes.as<ops::Conv2dFilterGradient>());
  case OpKind::MaxPool: return of(attributes.as<ops::MaxPool>());
  case OpKind::MaxPoolGradient: return of(attributes.as<ops::MaxPoolGradient>());
  case OpKind::AveragePool: return of(attributes.as<ops::AveragePool>());
  case OpKind::AveragePoolGradient: return of(attributes.as<ops::AveragePoolGradient>());
  default: return std::nullopt;
  }
}

} // namespace

void layoutField(AttributeVisitor& visitor, ImageLayout& layout) {
  auto chosen = static_cast<uint8_t>(layout);
  visitor.choice("layout", chosen, layoutNames, Presence::Optional);
  layout = static_cast<ImageLayout>(chosen);
}

Shape channelsLast(const Shape& channelsFirst) { return permuted(channelsFirst, toChannelsLast); }
Shape channelsFirst(const Shape& channelsLast) { return permuted(channelsLast, toChannelsFirst); }

std::optional<OpAttributes> channelsFirstForm(const OpAttributes& attributes) {
  return changed(attributes, ImageLayout::Nhwc, [](const auto& op) { return withChannelsFirst(op); });
}

std::optional<OpAttributes> channelsLastForm(const OpAttributes& attributes) {
  return changed(attributes, ImageLayout::Nchw, [](const auto& op) { return withChannelsLast(op); });
}

} // namespace dfc
