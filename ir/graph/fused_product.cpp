#include "ir/graph/fused_product.h"

#include "ir/graph/rules/op_rules.h"

#include <fmt/format.h>

namespace dfc {

ops::Fused epilogueOf(const ops::FusedBody& body) {
  ops::Fused fused;
  fused.body = body;
  return fused;
}

llvm::SmallVector<TensorType, 4> epilogueTypes(const TensorType& product, OperandTypes operands) {
  llvm::SmallVector<TensorType, 4> types{product};
  types.append(operands.begin() + 2, operands.end());
  return types;
}

TypeResult fusedProductTypes(OpKind kind, std::string_view noun, TypeResult product,
                             const ops::FusedBody& body, OperandTypes operands) {
  if (!product.ok()) {
    return product;
  }
  const TensorType made = product.types.front();
  TypeResult result = epilogueOf(body).types(epilogueTypes(made, operands));
  if (result.ok() && !(result.types.front().shape == made.shape)) {
    return refuse(
        kind, operands,
        fmt::format("the {} has shape {}, but its epilogue gives {}", noun, toString(made.shape),
                    toString(result.types.front().shape)),
        fmt::format("an operand behind the first two broadcasts to the {}'s shape; leave larger ones unfused",
                    noun));
  }
  return result;
}

OpCost fusedProductCost(const OpCost& ofProduct, const TensorType& product, const ops::FusedBody& body,
                        OperandTypes operands, OperandTypes results) {
  OpCost cost = streamingCost(operands, results, 0);
  cost.product = ofProduct.product;
  cost.flops = ofProduct.flops + epilogueOf(body).cost(epilogueTypes(product, operands), results).flops;
  return cost;
}

} // namespace dfc
