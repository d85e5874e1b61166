#include "ir/graph/rules/norm_rules.h"

#include <fmt/format.h>

#include <cmath>

namespace dfc {
TypeResult normTypes(OpKind kind, OperandTypes operands, int64_t axis, double epsilon) {
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
  return TypeResult::of(operands.front());
}

} // namespace dfc
