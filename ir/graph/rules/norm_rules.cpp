#include "ir/graph/rules/norm_rules.h"

#include <fmt/format.h>

#include <cmath>

namespace dfc {
namespace {

TypeResult withElement(OpKind kind, OperandTypes operands, NormResult result) {
  TensorType type = operands.front();
  if (result != NormResult::Unstated) {
    if (type.element != ElementType::F32) {
      return refuse(kind, operands,
                    fmt::format("a result of another type beside an operand of {}", name(type.element)),
                    "leave 'result' away, or cast the result; f32 operands have 16-bit results");
    }
    type.element = result == NormResult::F16 ? ElementType::F16 : ElementType::BF16;
  }
  return TypeResult::of(type);
}

} // namespace

TypeResult normTypes(OpKind kind, OperandTypes operands, int64_t axis, double epsilon, NormResult result) {
  if (TypeResult elements = checkElements(kind, operands, Domain::Float); !elements.ok()) {
    return elements;
  }
  if (TypeResult known = checkAxis(kind, operands, axis); !known.ok()) {
    return known;
  }
  if (!(epsilon >= 0 && std::isfinite(epsilon))) {
    return refuse(kind, operands, fmt::format("an epsilon of {}", epsilon), "give a small number, 0 or more");
  }
  const Shape& shape = operands.front().shape;
  const Shape row(dimRange(shape).drop_front(*normalAxis(axis, shape.rank())));
  for (const TensorType& operand : operands.drop_front()) {
    if (!(operand.shape == row)) {
      return refuse(kind, operands,
                    fmt::format("{} normalises rows of {}, which {} does not fit", nameOf(kind),
                                toString(row), toString(operand.shape)),
                    fmt::format("give scale and bias the shape {} of the normalised axes, or another axis",
                                toString(row)));
    }
  }
  return withElement(kind, operands, result);
}

TypeResult normGradientTypes(OpKind kind, OperandTypes operands, int64_t axis, double epsilon,
                             size_t vectors) {
  if (TypeResult norm = normTypes(kind, operands.take_front(2), axis, epsilon); !norm.ok()) {
    return norm;
  }
  const bool narrow = operands[0].element == ElementType::F32 && operands[2].shape == operands[0].shape &&
                      (operands[2].element == ElementType::F16 || operands[2].element == ElementType::BF16);
  if (!(operands[2] == operands[0]) && !narrow) {
    return refuse(kind, operands,
                  fmt::format("the cotangent is {}, not {}", toString(operands[2]), toString(operands[0])),
                  "give the gradient of the norm's result, which has the type of its first operand");
  }
  TypeResult results = TypeResult::of(operands[0]);
  results.types.append(vectors, operands[1]);
  return results;
}

NormRows::NormRows(const Shape& shape, int64_t axis) {
  const size_t first = *normalAxis(axis, shape.rank());
  rows = Shape(dimRange(shape).take_front(first)).elements();
  length = Shape(dimRange(shape).drop_front(first)).elements();
}

SplitRule normSplit(OperandTypes operands, OperandTypes results, int64_t axis) {
  llvm::SmallVector<size_t, 8> rows;
  for (size_t row = 0; row < *normalAxis(axis, operands[0].shape.rank()); ++row) {
    rows.push_back(row);
  }
  return sameAxesSplit(operands, results, rows);
}

SplitRule normGradientSplit(OperandTypes operands, OperandTypes results, int64_t axis) {
  SplitRule rule = normSplit(operands, results.take_front(1), axis).with({{2}});
  for (SplitFactor& factor : rule.factors) {
    factor.kind = results.size() > 1 ? SplitKind::Sum : SplitKind::Free;
    factor.operands[2] = alongAxis(operands[2], factor.operands[0].axis);
    factor.results.resize(results.size());
  }
  return rule;
}

} // namespace dfc
