// The decomposition of every composite op (DFC_COMPOSITE_OP in ir/graph/ops.def): the op as a formula of
// ordinary ops, one file an op in decompositions/. The pass `decompose` puts it in the place of an op for
// which a kind of device has no kernel, and the evaluator computes it, so that an op's meaning is written
// once. An op without a definition does not link.
#pragma once

#include "ir/author/builder.h"
#include "ir/graph/op.h"

#include <llvm/ADT/ArrayRef.h>

#include <vector>

namespace dfc {

/// Appends the ops of the formula, with the builder's present scope, pin and place. `operands`: valid tensors
/// of types that the op's type rule accepts. Gives the results, of the types that the rule gives.
#define DFC_OP(Type, text)
#define DFC_COMPOSITE_OP(Type, text)                                                                         \
  std::vector<Tensor> decomposition(const ops::Type& op, llvm::ArrayRef<Tensor> operands);
#include "ir/graph/ops.def"
#undef DFC_OP

bool isComposite(OpKind kind); ///< whether the op's row is a DFC_COMPOSITE_OP
/// The decomposition of the op that `attributes` hold; asserts that it is composite.
std::vector<Tensor> decompose(const OpAttributes& attributes, llvm::ArrayRef<Tensor> operands);

} // namespace dfc
