#include "ir/graph/rules/batch_norm_rules.h"

#include "ir/graph/rules/axis_view.h"

#include <fmt/format.h>
#include <llvm/ADT/STLExtras.h>

#include <cmath>

namespace dfc {
namespace {

// One element type: that of the tensor, or f32 beside a 16-bit tensor.
TypeResult checkVectorElements(OpKind kind, OperandTypes operands, size_t vectors) {
  if (vectors == 0) {
    return {};
  }
  const ElementType tensor = operands[0].element, vector = operands[1].element;
  const bool mixed = vector == ElementType::F32 && byteWidth(tensor) == 2;
  for (size_t i = 1; i <= vectors; ++i) {
    if (operands[i].element != vector || !(vector == tensor || mixed)) {
      return refuse(
          kind, operands,
          fmt::format("operand {} is of {}, operand {} of {}", i, name(operands[i].element), i == 1 ? 0 : 1,
                      name(i == 1 ? tensor : vector)),
          "give the numbers of channels in the tensor's type, or all in f32 where that has 16 bits");
    }
  }
  return {};
}

} // namespace

TypeResult checkBatchNorm(OpKind kind, OperandTypes operands, size_t vectors, int64_t axis, double epsilon) {
  if (TypeResult elements = checkElements(kind, operands.take_front(1), Domain::Float); !elements.ok()) {
    return elements;
  }
  if (TypeResult elements = checkVectorElements(kind, operands, vectors); !elements.ok()) {
    return elements;
  }
  if (TypeResult known = checkAxis(kind, operands, axis); !known.ok()) {
    return known;
  }
  if (!(epsilon >= 0) || std::isinf(epsilon)) {
    return refuse(kind, operands, fmt::format("epsilon is {}", epsilon), "give a number, 0 or more");
  }
  const Shape& shape = operands[0].shape;
  const int64_t channels = shape[*normalAxis(axis, shape.rank())];
  for (size_t i = 1; i <= vectors; ++i) {
    if (!(operands[i].shape == Shape{channels})) {
      return refuse(kind, operands,
                    fmt::format("axis {} has {} channels, but operand {} is {}", axis, channels, i,
                                toString(operands[i].shape)),
                    fmt::format("give a number for each channel, [{}], or another axis", channels));
    }
  }
  return {};
}

TypeResult checkChannelElements(OpKind kind, OperandTypes operands, int64_t axis) {
  const Channels channels(operands[0].shape, axis);
  if (channels.channels > 0 && channels.elements() == 0) {
    return refuse(kind, operands, "a channel without elements has no mean",
                  "give at least one element for each channel");
  }
  return {};
}

TypeResult checkChannelSums(OpKind kind, OperandTypes operands, size_t sums, int64_t axis, int64_t count) {
  const Shape& shape = operands[0].shape;
  if (!(operands[sums] == TensorType{ElementType::F64, {2, shape[*normalAxis(axis, shape.rank())]}})) {
    return refuse(kind, operands, fmt::format("operand {} is no sums of its channels", sums),
                  "give the result of batchNormSums");
  }
  if (count < 1) {
    return refuse(kind, operands, fmt::format("count is {}", count),
                  "give the elements of a channel, at least 1");
  }
  return {};
}

Channels::Channels(const Shape& shape, int64_t axis) {
  const AxisView view(shape, axis);
  outer = view.outer;
  channels = view.length;
  inner = view.inner;
}

SplitRule batchNormPassSplit(OperandTypes operands, OperandTypes results, int64_t axis,
                             llvm::ArrayRef<size_t> tensors, size_t sums) {
  const Shape& shape = operands[0].shape;
  const size_t channels = *normalAxis(axis, shape.rank());
  SplitRule rule;
  for (size_t at = 0; at < shape.rank(); ++at) {
    SplitFactor factor(SplitKind::Free, shape[at], operands.size(), results.size());
    for (size_t i = 0; i < operands.size(); ++i) {
      if (llvm::is_contained(tensors, i)) {
        factor.operands[i] = alongAxis(operands[i], at);
      } else if (at == channels) {
        factor.operands[i] = alongAxis(operands[i], i == sums ? 1 : 0);
      }
    }
    for (size_t i = 0; i < results.size(); ++i) {
      factor.results[i] = alongAxis(results[i], at);
    }
    rule.add(std::move(factor));
  }
  return rule;
}

SplitRule batchNormSplit(OperandTypes operands, OperandTypes results, int64_t axis, bool statistics) {
  const Shape& shape = operands[0].shape;
  const size_t channels = *normalAxis(axis, shape.rank());
  SplitRule rule;
  for (size_t at = 0; at < shape.rank(); ++at) {
    if (statistics && at != channels) {
      continue;
    }
    SplitFactor factor(SplitKind::Free, shape[at], operands.size(), results.size());
    const auto place = [&](const TensorType& type, bool whole) {
      return whole ? alongAxis(type, at) : at == channels ? alongAxis(type, 0) : SplitAxis{};
    };
    for (size_t i = 0; i < operands.size(); ++i) {
      factor.operands[i] = place(operands[i], i == 0 || operands[i].shape == shape);
    }
    for (size_t i = 0; i < results.size(); ++i) {
      factor.results[i] = place(results[i], i == 0 || results[i].shape == shape);
    }
    rule.add(std::move(factor));
  }
  return rule;
}

} // namespace dfc
