// Calls of every op of the table whose split rules the tests run in parts, with operands to run them on.
#pragma once

#include "tests/support/op_samples.h"
#include "tests/support/random_values.h"

namespace dfc::test {

/// An op, its operands, and the types on both sides.
struct SplitCall {
  OpAttributes attributes;
  std::vector<Literal> operands;
  std::vector<TensorType> operandTypes, resultTypes;
  std::string text() const; ///< "matmul of f32[2, 3] and f32[3, 4]"
};

enum class SplitValues : uint8_t {
  Whole, ///< small whole numbers, whose sums and products are exact in every type
  Any,   ///< floats of any digits
};

/// The samples of a kind, as the table has them and larger, of the calls that its type rule accepts.
std::vector<OpSample> splitSamples(OpKind kind, ElementType element);
/// With operands that the op can be run on: indices mostly in range, labels that are classes, variances above
/// 0.
SplitCall splitCall(const OpSample& sample, SplitValues values, Dice& dice);
/// A value of small whole numbers.
Literal wholeNumbers(const TensorType& type, Dice& dice);

} // namespace dfc::test
