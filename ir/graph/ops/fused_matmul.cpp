// fusedMatmul: its rules are those of its two halves, asked one after the other. It has no gradient: fusion
// comes after differentiation.
#include "ir/graph/fused_product.h"
#include "ir/graph/rules/op_rules.h"

#include "ir/base/assert.h"

namespace dfc::ops {

void FusedMatmul::fields(AttributeVisitor& visitor) {
  Matmul half = product();
  half.fields(visitor);
  transposeA = half.transposeA;
  transposeB = half.transposeB;
  precision = half.precision;
  visitor.field("body", static_cast<TextCoded&>(body), Presence::Required);
}

Matmul FusedMatmul::product() const {
  Matmul matmul;
  matmul.transposeA = transposeA;
  matmul.transposeB = transposeB;
  matmul.precision = precision;
  return matmul;
}

Fused FusedMatmul::epilogue() const { return epilogueOf(body); }

TensorType FusedMatmul::productType(OperandTypes operands) const {
  const TypeResult types = product().types(operands.take_front(2));
  DFC_ASSERT(types.ok(), types.error);
  return types.types.front();
}

llvm::SmallVector<TensorType, 4> FusedMatmul::epilogueOperands(OperandTypes operands) const {
  return epilogueTypes(productType(operands), operands);
}

TypeResult FusedMatmul::types(OperandTypes operands) const {
  return fusedProductTypes(OpKind::FusedMatmul, "product", product().types(operands.take_front(2)), body,
                           operands);
}

OpCost FusedMatmul::cost(OperandTypes operands, OperandTypes results) const {
  const TensorType made = productType(operands);
  return fusedProductCost(product().cost(operands.take_front(2), made), made, body, operands, results);
}

// A sum over the depth does not pass through the epilogue.
SplitRule FusedMatmul::split(OperandTypes operands, OperandTypes) const {
  const TensorType made = productType(operands);
  SplitRule rule;
  for (const SplitFactor& ofProduct : product().split(operands.take_front(2), {made}).factors) {
    if (ofProduct.kind == SplitKind::Free) {
      SplitFactor factor = ofProduct;
      for (const TensorType& operand : operands.drop_front(2)) {
        factor.operands.push_back(broadcastAxis(operand, made.shape, factor.results[0].axis));
      }
      rule.add(std::move(factor));
    }
  }
  return rule;
}

} // namespace dfc::ops
