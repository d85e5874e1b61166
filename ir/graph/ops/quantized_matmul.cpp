#include "ir/graph/ops/quantized_matmul.h"

#include "ir/graph/rules/op_rules.h"

#include <fmt/format.h>

namespace dfc::ops {

void QuantizedMatmul::fields(AttributeVisitor& visitor) { visitor.field("bits", bits, Presence::Optional); }

TypeResult QuantizedMatmul::types(OperandTypes operands) const {
  const TensorType &a = operands[0], &weights = operands[1], &scales = operands[2];
  const auto fail = [&](std::string_view why, std::string hint) {
    return refuse(OpKind::QuantizedMatmul, operands, why, std::move(hint));
  };
  if (bits != 8 && bits != 4) {
    return fail(fmt::format("{} bits", bits), "weights have 8 bits or 4");
  }
  if (!isFloat(a.element) || weights.element != ElementType::U8 || scales.element != a.element) {
    return fail("the element types do not suit", "a and the scales are of one float type, the weights u8");
  }
  if (a.shape.rank() < 2 || weights.shape.rank() != 2 || scales.shape.rank() != 2) {
    return fail("the ranks do not suit", "a is [..., m, k], the weights and the scales are matrices");
  }
  const int64_t inner = a.shape[a.shape.rank() - 1], groups = scales.shape[1];
  if (weights.shape[1] != inner / perByte() || inner % perByte() != 0) {
    return fail(fmt::format("rows of {} bytes for {} elements of {} bits", weights.shape[1], inner, bits),
                "a row of weights has k * bits / 8 bytes");
  }
  if (scales.shape[0] != weights.shape[0] || groups < 1 || inner % groups != 0 ||
      inner / groups % perByte() != 0) {
    return fail(
        fmt::format("{} scales for {} rows of {} elements", toString(scales.shape), weights.shape[0], inner),
        "there are as many scales for each row of weights, of runs of equal lengths in whole bytes");
  }
  Dims dims(a.shape.dims().begin(), a.shape.dims().end());
  dims.back() = weights.shape[0];
  return resultOf(OpKind::QuantizedMatmul, operands, a.element, dims);
}

// As of a matmul; dequantising an element is a conversion and a product, once for each row of a.
OpCost QuantizedMatmul::cost(OperandTypes operands, OperandTypes results) const {
  const Shape& a = operands[0].shape;
  return streamingCost(operands, results, 2 * static_cast<double>(a[a.rank() - 1]));
}

SplitRule QuantizedMatmul::split(OperandTypes operands, OperandTypes results) const {
  const size_t last = operands[0].shape.rank() - 1;
  SplitRule rule;
  for (size_t axis = 0; axis < last; ++axis) {
    SplitFactor rows(SplitKind::Free, operands[0].shape[axis], 3, 1);
    rows.operands[0] = alongAxis(operands[0], axis);
    rows.results[0] = alongAxis(results[0], axis);
    rule.add(std::move(rows));
  }
  SplitFactor columns(SplitKind::Free, operands[1].shape[0], 3, 1);
  columns.operands[1] = alongAxis(operands[1], 0);
  columns.operands[2] = alongAxis(operands[2], 0);
  columns.results[0] = alongAxis(results[0], last);
  rule.add(std::move(columns));
  const int64_t inner = operands[0].shape[last], groups = operands[2].shape[1];
  if (inner == 0) {
    return std::move(rule).with({{0}});
  }
  // Whole runs of a scale, or, where a row has one scale, whole bytes.
  const int64_t run = groups > 1 ? inner / groups : perByte();
  SplitFactor depth(SplitKind::Sum, inner / run, 3, 1);
  depth.operands[0] = groupsAlongAxis(operands[0], last, run);
  depth.operands[1] = groupsAlongAxis(operands[1], 1, run / perByte());
  if (groups > 1) {
    depth.operands[2] = alongAxis(operands[2], 1);
  }
  rule.add(std::move(depth));
  return std::move(rule).with({{0}});
}

} // namespace dfc::ops
