// SharedValues: the values of a graph that pass between the host's kernels and other devices, for the cache
// hints of kernels (kernels/kernel.h). Host devices use them, and so does calibration.
#pragma once

#include "ir/graph/graph.h"
#include "runtime/cpu/kernels/kernel.h"

namespace dfc {

class SharedValues {
 public:
  explicit SharedValues(const Graph& graph);
  /// Operands that a transfer brought, and whether a transfer takes the first result away.
  SharedBuffers of(OpId op) const;

 private:
  const Graph& graph_;
  SideTable<ValueId, bool> leaves_;
};

} // namespace dfc
