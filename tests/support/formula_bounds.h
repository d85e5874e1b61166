// How far from the value of a formula its kernels may be: a running error analysis of the body (Wilkinson
// 1986, "Error analysis revisited"). Each primitive passes on what its operands err by and adds the error
// that the functions of the backends are documented to have.
#pragma once

#include "ir/graph/graph.h"

namespace dfc::test {

/// The absolute error of the formula at these operands when it is computed in `compute`, which is f32 or f64;
/// 0 where the value is not finite.
double formulaError(OpKind kind, uint8_t variant, llvm::ArrayRef<double> operands, ElementType compute);

/// What an element of a broadcast result is computed from.
llvm::SmallVector<double, 3> operandsAt(llvm::ArrayRef<Literal> operands, const Shape& result, int64_t at);

} // namespace dfc::test
