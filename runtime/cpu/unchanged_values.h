// UnchangedValues: the values of a graph that are the same in every step: constants, parameters that no op
// assigns, and views and copies of them on other devices. Only the caller changes these, between steps.
// Kernels keep what they make of such an operand (a packed copy), so values count as unchanged only while
// these copies together are no larger than the value itself: a parameter that two products read, as in
// micro-batches, is treated as one that changes.
#pragma once

#include "ir/graph/graph.h"

namespace dfc {

class UnchangedValues {
 public:
  explicit UnchangedValues(const Graph& graph);
  bool contains(ValueId value) const { return unchanged_[value]; }
  /// Whether it is such a copy on another device, which every step writes anew.
  bool isCopy(ValueId value) const { return copy_[value]; }

 private:
  SideTable<ValueId, bool> unchanged_, copy_;
};

} // namespace dfc
