// Softmax along long columns, read once and written once: what no block can hold, a team of blocks holds
// together, and they tell one another what they find.
#pragma once

#include "runtime/cuda/kernels/rows/rows.h"

namespace dfc::cuda {

/// Shared memory that a block of a ring wants, and with it a multiprocessor to itself.
inline constexpr int64_t ringBlockShared = 227 * 1024;

/// Who holds what. A slab is 256 bytes' width of neighbouring rows; `parts` blocks hold one, `lines` classes
/// each, the last perhaps fewer, and `groups` such teams take slabs in turn. A block holds its parts of
/// `slots` slabs at a time.
struct ColumnRing {
  int64_t parts = 1, lines = 1, groups = 1, slots = 1;
  int64_t blocks() const { return parts * groups; }
};

/// Softmax or logSoftmax of f32, rows [outer, classes, inner], `inner` a multiple of 4.
GeneratedWork columnRingSoftmax(const RowFormula& formula, int64_t outer, int64_t classes, int64_t inner,
                                const ColumnRing& ring);

/// The op by a ring, for a GPU that runs `blocks` of its blocks at once. None for other ops and types, where
/// so many blocks do not hold a slab, and where columns_softmax.cpp is as quick.
std::optional<GeneratedWork> generateColumnRing(const OpAttributes& attributes, OperandTypes operands,
                                                int64_t blocks);

} // namespace dfc::cuda
