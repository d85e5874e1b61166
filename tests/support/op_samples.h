// A legal call of every op of the table, for the tests that walk it. The switch behind it has no default: an
// op without a sample does not compile.
#pragma once

#include "ir/graph/op.h"

#include <vector>

namespace dfc::test {

struct OpSample {
  OpAttributes attributes;
  std::vector<TensorType> operands;
};

/// Whether no gradient passes an op of this kind to a float operand: ops of the compiler, and one whose own
/// derivative nobody has written.
bool hasNoGradient(OpKind kind);

/// Where the op takes the type `element`, its operands are of it; and, or, xor and not take i32 where it is a
/// float.
OpSample sampleOf(OpKind kind, ElementType element = ElementType::F32);

} // namespace dfc::test
