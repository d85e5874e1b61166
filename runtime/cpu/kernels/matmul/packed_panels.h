// packedPanels: whether packing the operands of a product pays (packed_multiplier.h), and the panels that the
// product is cut into then. constantPanels: the same for a right operand that is a constant, packed once. The
// rule looks at shapes alone: oneDNN may round differently in panels of another size, and a result must not
// depend on the number of threads.
#pragma once

#include "runtime/cpu/kernels/matmul/matmul_plan.h"

namespace dfc {

/// The panels with the least estimated time, in order down the product's columns. Nothing for types other
/// than f32, for batches, and where packing takes longer than it saves.
std::optional<MatmulPlan> packedPanels(const MatmulPlan& plan, ElementType type);

/// Nothing for types that oneDNN does not take, for a single row and for a small right operand.
std::optional<MatmulPlan> constantPanels(const MatmulPlan& plan, ElementType type);

} // namespace dfc
