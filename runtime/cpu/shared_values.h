// SharedValues: which values of a graph pass between the host's kernels and other devices, for the hints that
// kernels take (kernels/kernel.h). A device that is the host's own has them, and so has the code that times
// its kernels.
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
