// Calls that may run in place, and their neighbours that may not: every op of the table and fused forms, each
// with its own operands, with all operands in one shape, and with one operand whole while the others are
// broadcast. For tests that compare the rules of what a kernel may overwrite, and that run what they allow.
#pragma once

#include "tests/support/op_samples.h"

namespace dfc::test {

/// Elementwise calls whose operands have `shape` (rank 2, no extent 1), all of them or one in turn while the
/// others are broadcast to it; every kind, every target of casts, fused bodies, with one operand named twice.
std::vector<OpSample> elementwiseCalls(ElementType element, const Shape& shape);
/// Fused products of [rows, depth] and [depth, columns] with operands behind the product: of its shape, of
/// other types, broadcast.
std::vector<OpSample> fusedProducts(ElementType element, int64_t rows, int64_t depth, int64_t columns);
/// The samples of all ops of the table, as they are and with all operands in one shape where the op takes it.
std::vector<OpSample> callsOfAllOps(ElementType element);

} // namespace dfc::test
