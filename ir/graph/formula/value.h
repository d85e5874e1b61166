// The value of a formula in long double: the meaning of a formula op, for the evaluator and as the tests'
// oracle. Results are rounded once, by the caller.
#pragma once

#include "ir/graph/formula/program.h"

#include <llvm/ADT/ArrayRef.h>

namespace dfc::formula {

/// One primitive other than Argument, Constant and Call. A truth value is 1 or 0.
long double primitiveValue(Primitive primitive, std::array<long double, 3> in);

long double valueOf(OpKind kind, uint8_t variant, llvm::ArrayRef<double> operands);

/// All results of a program, such as the derivatives of a formula.
std::array<long double, Program::mostResults> valuesOf(const Program& program,
                                                       llvm::ArrayRef<long double> arguments);

} // namespace dfc::formula
