#include "ir/graph/ops/matmul.h"
#include "ir/graph/rules/precision.h"

#include <fmt/format.h>

namespace dfc::ops {
namespace {

// The batch axes, the rows and the columns of an operand after its transpose.
struct Factor {
  Shape batch;
  int64_t rows, columns;

  Factor(const Shape& shape, bool transposed)
      : batch(dimRange(shape).drop_back(2)), rows(shape[shape.rank() - (transposed ? 1 : 2)]),
        columns(shape[shape.rank() - (transposed ? 2 : 1)]) {}
};

std::string describe(OperandTypes operands, bool transposeA, bool transposeB) {
  return fmt::format("matmul of {}{} and {}{}", toString(operands[0]), transposeA ? " transposed" : "",
                     toString(operands[1]), transposeB ? " transposed" : "");
}

} // namespace

void Matmul::fields(AttributeVisitor& visitor) {
  visitor.field("transposeA", transposeA, Presence::Optional);
  visitor.field("transposeB", transposeB, Presence::Optional);
  precisionField(visitor, precision);
}

TypeResult Matmul::types(OperandTypes operands) const {
  if (!isKnown(precision)) {
    return refusePrecision(OpKind::Matmul, operands);
  }
  if (TypeResult elements = checkElements(OpKind::Matmul, operands, Domain::Number); !elements.ok()) {
    return elements;
  }
  const auto fail = [&](std::string_view why, std::string hint) {
    return TypeResult::fail(fmt::format("{}: {}", describe(operands, transposeA, transposeB), why),
                            std::move(hint));
  };
  if (operands[0].shape.rank() < 2 || operands[1].shape.rank() < 2) {
    return fail("both operands need rows and columns", "reshape a vector to [1, n] or [n, 1]");
  }
  const Factor a(operands[0].shape, transposeA), b(operands[1].shape, transposeB);
  if (a.columns != b.rows) {
    return fail(fmt::format("{} columns meet {} rows", a.columns, b.rows),
                "transpose an operand (transposeA, transposeB) or mend a shape");
  }
  const std::optional<Shape> batch = broadcastShapes(a.batch, b.batch);
  if (!batch) {
    return fail(
        fmt::format("the batch axes {} and {} do not broadcast", toString(a.batch), toString(b.batch)),
        "the axes before the last two agree or are 1; reshape an operand");
  }
  Dims dims(batch->dims().begin(), batch->dims().end());
  dims.insert(dims.end(), {a.rows, b.columns});
  return resultOf(OpKind::Matmul, operands, operands[0].element, dims);
}

// A product and a sum for each element of the result and each of the k terms in it.
OpCost Matmul::cost(OperandTypes operands, OperandTypes results) const {
  const Factor a(operands[0].shape, transposeA);
  OpCost cost = streamingCost(operands, results, 2 * static_cast<double>(a.columns));
  cost.product = productShape(results[0].shape, a.columns, transposeA, transposeB);
  return cost;
}

SplitRule Matmul::split(OperandTypes operands, OperandTypes results) const {
  const Shape& product = results[0].shape;
  const size_t rank = product.rank(), m = rank - 2, n = rank - 1;
  const std::array<size_t, 2> rows = {operands[0].shape.rank() - (transposeA ? 1 : 2),
                                      operands[1].shape.rank() - (transposeB ? 1 : 2)};
  const std::array<size_t, 2> columns = {operands[0].shape.rank() - (transposeA ? 2 : 1),
                                         operands[1].shape.rank() - (transposeB ? 2 : 1)};
  SplitRule rule;
  for (size_t axis = 0; axis < rank; ++axis) {
    SplitFactor factor(SplitKind::Free, product[axis], 2, 1);
    factor.results[0] = alongAxis(results[0], axis);
    for (size_t i = 0; i < 2 && axis < m; ++i) {
      factor.operands[i] = broadcastAxis(operands[i], product, axis);
    }
    if (axis == m) {
      factor.operands[0] = alongAxis(operands[0], rows[0]);
    } else if (axis == n) {
      factor.operands[1] = alongAxis(operands[1], columns[1]);
    }
    rule.add(std::move(factor));
  }
  SplitFactor depth(SplitKind::Sum, operands[0].shape[columns[0]], 2, 1);
  depth.operands = {alongAxis(operands[0], columns[0]), alongAxis(operands[1], rows[1])};
  rule.add(std::move(depth));
  return std::move(rule).with({{0}, {1}});
}

} // namespace dfc::ops
