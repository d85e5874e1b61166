#include "ir/graph/ops/attention/attention.h"

#include "ir/graph/rules/attention_shape.h"
#include "ir/graph/rules/attention_splits.h"
#include "ir/graph/rules/precision.h"

#include <cmath>

namespace dfc::ops {

void Attention::fields(AttributeVisitor& visitor) {
  visitor.field("causal", causal, Presence::Optional);
  visitor.field("scale", scale, Presence::Optional);
  auto chosen = static_cast<uint8_t>(layout);
  visitor.choice("layout", chosen, layoutNames, Presence::Optional);
  layout = static_cast<AttentionLayout>(chosen);
  visitor.field("keyHeads", keyHeads, Presence::Optional);
  visitor.field("start", start, Presence::Optional);
  precisionField(visitor, precision);
}

double Attention::scaleFor(int64_t width) const {
  if (scale != 0) {
    return scale;
  }
  return width == 0 ? 1 : 1 / std::sqrt(static_cast<double>(width));
}

TypeResult Attention::types(OperandTypes operands) const {
  if (!isKnown(precision)) {
    return refusePrecision(OpKind::Attention, operands);
  }
  if (!std::isfinite(scale)) {
    return refuse(OpKind::Attention, operands, "the scale is not finite", "leave it out for 1 / sqrt(width)");
  }
  const auto found = attentionShape(OpKind::Attention, *this, operands, operands.size() == 4);
  if (const auto* refused = std::get_if<TypeResult>(&found)) {
    return *refused;
  }
  const auto& shape = std::get<AttentionShape>(found);
  TypeResult results;
  results.types = {{operands[0].element, shape.result()},
                   {attentionSumType(operands[0].element), shape.rows()}};
  return results;
}

// Two products, and a softmax, for each pair of a query and a key that it sees.
OpCost Attention::cost(OperandTypes operands, OperandTypes results) const {
  const AttentionShape shape = knownAttentionShape(*this, operands);
  // One packed tensor is read once.
  OpCost cost =
      streamingCost(layout == AttentionLayout::Packed ? operands.drop_front(2) : operands, results, 0);
  const double softmax = 3 + expFlops + divFlops;
  cost.flops =
      shape.visiblePairs(causal) * (2 * static_cast<double>(shape.width + shape.valueWidth) + softmax);
  cost.product.inner = static_cast<double>(shape.width);
  return cost;
}

SplitRule Attention::split(OperandTypes operands, OperandTypes results) const {
  return attentionSplit(*this, operands, results);
}

void Attention::restrictTo(const SplitPart& part) {
  start += causal && attentionQueriesCut(*this, part) ? part.range.begin : 0;
}

} // namespace dfc::ops
