// How near a backend's result must be to the reference evaluator's: to the bit wherever IEEE 754 defines the
// result or no arithmetic happens, within bounds that follow from the arithmetic elsewhere.
#pragma once

#include "ir/graph/graph.h"

namespace dfc::test {

/// "" when `actual` is as near to `expected` as the op demands for these operands, else the first element
/// that is not. NaNs are equal to one another. `result`: which of the op's results it is.
std::string disagreement(const OpAttributes& attributes, llvm::ArrayRef<Literal> operands,
                         const Literal& expected, const Literal& actual, size_t result = 0);

} // namespace dfc::test
