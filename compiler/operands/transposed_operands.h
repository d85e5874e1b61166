// withTransposedOperands: transposed copies of operands for matmuls with transposeA and without transposeB,
// in which the inner dimension is contiguous in neither operand. Hopper's matrix units read tf32 only with a
// contiguous inner dimension (NVIDIA, "PTX ISA", wgmma), so that cuBLASLt has slower kernels for the others.
#pragma once

#include "ir/machine/machine.h"
#include "ir/plan/placement.h"

#include <optional>

namespace dfc {

/// A copy is made where a product's predicted seconds with it, the copy included, are clearly less than
/// without, by the rates of the product's device. The cheaper operand is copied: the smaller, or one that
/// several products share. Results keep their bits in the evaluator. None where no product gains.
std::optional<Placement> withTransposedOperands(const Placement& placement, const Machine& machine);

} // namespace dfc
