// The wording of refusals is part of the contract: tests check it to the letter.
#include "ir/graph/rules/op_rules.h"

#include "ir/base/assert.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace dfc {
namespace {

std::string joined(OperandTypes operands) {
  std::string text;
  for (size_t i = 0; i < operands.size(); ++i) {
    const char* separator = i == 0 ? "" : i + 1 == operands.size() ? " and " : ", ";
    text += separator + toString(operands[i]);
  }
  return text;
}

bool inDomain(ElementType type, Domain domain) {
  switch (domain) {
  case Domain::Any: return true;
  case Domain::Number: return type != ElementType::Bool;
  case Domain::Float: return isFloat(type);
  case Domain::Whole: return !isFloat(type);
  }
  DFC_UNREACHABLE("domain");
}

std::string_view displayName(Domain domain) {
  switch (domain) {
  case Domain::Any: return "any type";
  case Domain::Number: return "numbers, not bool";
  case Domain::Float: return "f32, f64, f16 or bf16";
  case Domain::Whole: return "bool or integers, not floats";
  }
  DFC_UNREACHABLE("domain");
}

std::string_view cureFor(Domain domain) {
  switch (domain) {
  case Domain::Any: return "another type";
  case Domain::Number: return "a number type";
  case Domain::Float: return "a float type";
  case Domain::Whole: return "bool or an integer type";
  }
  DFC_UNREACHABLE("domain");
}

// Which dimensions clash, read from the last axis as broadcasting does; "" when none do.
std::string clash(const Shape& a, const Shape& b) {
  for (size_t fromEnd = 1; fromEnd <= std::min(a.rank(), b.rank()); ++fromEnd) {
    const int64_t left = a[a.rank() - fromEnd], right = b[b.rank() - fromEnd];
    if (left != right && left != 1 && right != 1) {
      return fmt::format("dimension {} of {} meets {} of {}", left, toString(a), right, toString(b));
    }
  }
  return "";
}

} // namespace

std::string describeCall(OpKind kind, OperandTypes operands) {
  return operands.empty() ? std::string(nameOf(kind))
                          : fmt::format("{} of {}", nameOf(kind), joined(operands));
}

TypeResult refuse(OpKind kind, OperandTypes operands, std::string_view why, std::string hint) {
  return TypeResult::fail(fmt::format("{}: {}", describeCall(kind, operands), why), std::move(hint));
}

TypeResult checkElements(OpKind kind, OperandTypes operands, Domain domain) {
  for (const TensorType& type : operands) {
    if (!inDomain(type.element, domain)) {
      return refuse(kind, operands, fmt::format("{} takes {}", nameOf(kind), displayName(domain)),
                    fmt::format("cast to {} first", cureFor(domain)));
    }
  }
  for (const TensorType& type : operands) {
    if (type.element != operands.front().element) {
      return refuse(kind, operands,
                    fmt::format("{} meets {}", name(operands.front().element), name(type.element)),
                    fmt::format("cast one operand to the other's element type, for example to {}",
                                name(operands.front().element)));
    }
  }
  return {};
}

std::optional<Shape> commonShape(OperandTypes operands) {
  Shape shape;
  for (const TensorType& type : operands) {
    const std::optional<Shape> next = broadcastShapes(shape, type.shape);
    if (!next) {
      return std::nullopt;
    }
    shape = *next;
  }
  return shape;
}

TypeResult broadcastTypes(OpKind kind, OperandTypes operands, ElementType element) {
  if (const std::optional<Shape> shape = commonShape(operands)) {
    return TypeResult::of({element, *shape});
  }
  for (size_t i = 0; i < operands.size(); ++i) {
    for (size_t j = i + 1; j < operands.size(); ++j) {
      const std::string why = clash(operands[i].shape, operands[j].shape);
      if (!why.empty()) {
        return refuse(kind, operands, why,
                      "broadcasting aligns the last axes, and only a dimension of 1 stretches; "
                      "reshape or transpose an operand");
      }
    }
  }
  return refuse(kind, operands, "the shape that they broadcast to is too large",
                "a tensor has at most 8 axes and fewer than 2^60 elements; broadcast fewer axes");
}

TypeResult elementwiseTypes(OpKind kind, OperandTypes operands, Domain domain) {
  TypeResult elements = checkElements(kind, operands, domain);
  return elements.ok() ? broadcastTypes(kind, operands, operands.front().element) : elements;
}

TypeResult resultOf(OpKind kind, OperandTypes operands, ElementType element, llvm::ArrayRef<int64_t> dims) {
  if (!Shape::valid(dims)) {
    return refuse(kind, operands, "no tensor may have the shape of the result",
                  "a tensor has at most 8 axes, none of them negative, and fewer than 2^60 elements");
  }
  return TypeResult::of({element, Shape(dims)});
}

std::optional<size_t> normalAxis(int64_t axis, size_t rank) {
  const auto count = static_cast<int64_t>(rank);
  if (axis < -count || axis >= count) {
    return std::nullopt;
  }
  return static_cast<size_t>(axis < 0 ? axis + count : axis);
}

std::optional<Dims> normalAxes(llvm::ArrayRef<int64_t> axes, size_t rank) {
  Dims normal;
  if (axes.empty()) {
    for (size_t axis = 0; axis < rank; ++axis) {
      normal.push_back(static_cast<int64_t>(axis));
    }
    return normal;
  }
  for (const int64_t axis : axes) {
    const std::optional<size_t> counted = normalAxis(axis, rank);
    if (!counted) {
      return std::nullopt;
    }
    normal.push_back(static_cast<int64_t>(*counted));
  }
  std::sort(normal.begin(), normal.end());
  const bool twice = std::adjacent_find(normal.begin(), normal.end()) != normal.end();
  return twice ? std::nullopt : std::optional(normal);
}

int64_t reducedLength(const Shape& shape, llvm::ArrayRef<int64_t> axes) {
  int64_t length = 1;
  for (const int64_t axis : axes) {
    length *= shape[static_cast<size_t>(axis)];
  }
  return length;
}

TypeResult checkMeanCount(OpKind kind, OperandTypes operands, const Shape& shape,
                          llvm::ArrayRef<int64_t> axes, int64_t count) {
  const int64_t length = reducedLength(shape, axes);
  if (count == 0 || count >= length) {
    return {};
  }
  return refuse(kind, operands, fmt::format("the mean divides by {}, and is of {} elements", count, length),
                "give the number of elements in the whole's mean, or leave count out");
}

Shape reducedShape(const Shape& shape, llvm::ArrayRef<int64_t> axes, bool keepDims) {
  Dims dims;
  for (size_t axis = 0; axis < shape.rank(); ++axis) {
    if (std::find(axes.begin(), axes.end(), static_cast<int64_t>(axis)) == axes.end()) {
      dims.push_back(shape[axis]);
    } else if (keepDims) {
      dims.push_back(1);
    }
  }
  return Shape(dims);
}

TypeResult checkAxis(OpKind kind, OperandTypes operands, int64_t axis) {
  const size_t rank = operands.front().shape.rank();
  if (normalAxis(axis, rank)) {
    return {};
  }
  return refuse(kind, operands, fmt::format("there is no axis {}", axis),
                rank == 0 ? "a scalar has no axes; reshape it to [1]"
                          : fmt::format("give an axis from {} to {}", -static_cast<int64_t>(rank), rank - 1));
}

TypeResult reductionTypes(OpKind kind, OperandTypes operands, llvm::ArrayRef<int64_t> axes, bool keepDims,
                          Domain domain, bool emptyAllowed) {
  const TensorType& operand = operands.front();
  if (TypeResult elements = checkElements(kind, operands, domain); !elements.ok()) {
    return elements;
  }
  for (const int64_t axis : axes) {
    if (TypeResult known = checkAxis(kind, operands, axis); !known.ok()) {
      return known;
    }
  }
  const std::optional<Dims> reduced = normalAxes(axes, operand.shape.rank());
  if (!reduced) {
    return refuse(kind, operands, "an axis is named twice", "name each axis once; -1 is the last one");
  }
  for (const int64_t axis : *reduced) {
    if (operand.shape[static_cast<size_t>(axis)] == 0 && !emptyAllowed) {
      return refuse(kind, operands, fmt::format("axis {} has length 0", axis),
                    "nothing has no mean and no largest element; reduce other axes");
    }
  }
  return TypeResult::of({operand.element, reducedShape(operand.shape, *reduced, keepDims)});
}

OpCost reductionCost(OperandTypes operands, OperandTypes results) {
  OpCost cost = streamingCost(operands, results, 0);
  cost.flops = static_cast<double>(operands.front().shape.elements());
  return cost;
}

OpCost movementCost(OperandTypes results) { return {0, 2 * static_cast<double>(results.front().bytes())}; }

bool canHold(ElementType type, double value) {
  if (isFloat(type)) {
    return true;
  }
  const bool whole = std::isfinite(value) && std::trunc(value) == value;
  switch (type) {
  case ElementType::Bool: return value == 0 || value == 1;
  case ElementType::U8: return whole && value >= 0 && value <= 255;
  case ElementType::I32: return whole && value >= -0x1p31 && value < 0x1p31;
  case ElementType::I64: return whole && value >= -0x1p63 && value < 0x1p63;
  default: return false;
  }
}

} // namespace dfc
