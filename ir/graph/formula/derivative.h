// Derivatives of formulas as programs, by reverse accumulation over the instructions (Griewank and Walther,
// "Evaluating Derivatives", 2008): the chain rule through primitives, and through the derivatives of called
// formulas. Where a primitive has a corner, the derivative is that of one side: of max and min the first
// operand's where both are equal, of abs 0 at 0.
#pragma once

#include "ir/graph/formula/program.h"

namespace dfc::formula {

/// The derivative of a formula by each of its operands: as the op states it, else from its body. The
/// program's arguments are the operands and, last, the formula's result.
Program derivativesOf(OpKind kind, uint8_t variant);

/// From the body, whatever the op states.
Program automaticDerivativesOf(OpKind kind, uint8_t variant);

} // namespace dfc::formula
