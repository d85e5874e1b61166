// FusedProduct: the rules that fusedMatmul and fusedConv2d share. Both are a product of two factors, followed
// by an epilogue over the product and the op's other operands.
#pragma once

#include "ir/graph/ops/fused.h"

#include <string_view>

namespace dfc {

/// The epilogue that has this body.
ops::Fused epilogueOf(const ops::FusedBody& body);

/// Operand types of the epilogue: the product's, and those of the whole op after its two factors.
llvm::SmallVector<TensorType, 4> epilogueTypes(const TensorType& product, OperandTypes operands);

/// The type rule of the whole. `product`: the type rule's answer for the product, named `noun` in errors.
TypeResult fusedProductTypes(OpKind kind, std::string_view noun, TypeResult product,
                             const ops::FusedBody& body, OperandTypes operands);

/// The cost of the whole; `ofProduct` is that of the product, of type `product`.
OpCost fusedProductCost(const OpCost& ofProduct, const TensorType& product, const ops::FusedBody& body,
                        OperandTypes operands, OperandTypes results);

} // namespace dfc
