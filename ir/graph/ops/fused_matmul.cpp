// fusedMatmul: its rules are those of its two halves, asked one after the other. It has no gradient: fusion
// comes after differentiation.
#include "ir/graph/rules/op_rules.h"

#include "ir/base/assert.h"

#include <fmt/format.h>

namespace dfc::ops {
namespace {

llvm::SmallVector<TensorType, 4> withProduct(const TensorType& product, OperandTypes operands) {
  llvm::SmallVector<TensorType, 4> types{product};
  types.append(operands.begin() + 2, operands.end());
  return types;
}

} // namespace

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

Fused FusedMatmul::epilogue() const {
  Fused fused;
  fused.body = body;
  return fused;
}

TensorType FusedMatmul::productType(OperandTypes operands) const {
  const TypeResult types = product().types(operands.take_front(2));
  DFC_ASSERT(types.ok(), types.error);
  return types.types.front();
}

llvm::SmallVector<TensorType, 4> FusedMatmul::epilogueOperands(OperandTypes operands) const {
  return withProduct(productType(operands), operands);
}

TypeResult FusedMatmul::types(OperandTypes operands) const {
  TypeResult product = this->product().types(operands.take_front(2));
  if (!product.ok()) {
    return product;
  }
  const TensorType made = product.types.front();
  TypeResult result = epilogue().types(withProduct(made, operands));
  if (result.ok() && !(result.types.front().shape == made.shape)) {
    return refuse(
        OpKind::FusedMatmul, operands,
        fmt::format("the product has shape {}, but its epilogue gives {}", toString(made.shape),
                    toString(result.types.front().shape)),
        "an operand behind the first two broadcasts to the product's shape; leave larger ones unfused");
  }
  return result;
}

OpCost FusedMatmul::cost(OperandTypes operands, OperandTypes results) const {
  const TensorType made = productType(operands);
  OpCost cost = streamingCost(operands, results, 0);
  const OpCost ofProduct = product().cost(operands.take_front(2), made);
  cost.product = ofProduct.product;
  cost.flops = ofProduct.flops + epilogue().cost(withProduct(made, operands), results).flops;
  return cost;
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
