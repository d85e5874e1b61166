// An op appended to the graph of its operands, with numbers as scalars: what every function of the DSL does.
#pragma once

#include "ir/author/builder.h"
#include "ir/graph/op.h"

#include <llvm/ADT/ArrayRef.h>

#include <vector>

namespace dfc::dsl {

/// An op on tensors and numbers. Without any tensor there is no graph to append to or to complain in: the
/// result is then an empty Tensor, which is refused where it is used.
Tensor apply(OpAttributes attributes, llvm::ArrayRef<Operand> operands);
/// The same with `count` results; poisoned ones after a mistake, so that what depends on them adds none.
std::vector<Tensor> applySeveral(OpAttributes attributes, llvm::ArrayRef<Operand> operands, size_t count);

} // namespace dfc::dsl
