// Calls of every op that computes, chosen for the decisions that a kernel generator makes: scalars, nothing
// at all, rank 8, every pattern of broadcasting, extents that no pack divides, one result and many, short
// reductions and long ones.
#pragma once

#include "tests/support/op_samples.h"

namespace dfc::test {

/// Calls whose operands are of `element` where the op takes it; only those that the op's rule accepts.
/// `large`: also calls of up to a million elements, which have decisions of their own.
std::vector<OpSample> kernelCases(ElementType element, bool large);

/// Those of them that are parts of a larger call and say so.
std::vector<OpSample> partCases(ElementType element);

/// "reduceSum of f32[2, 3]"
std::string describe(const OpSample& sample);

} // namespace dfc::test
