// UnchangedValues: the values of a graph that are the same in every step: constants, parameters that no op
// assigns, and views of them. Only the caller changes these, between steps.
#pragma once

#include "ir/graph/graph.h"

namespace dfc {

class UnchangedValues {
 public:
  explicit UnchangedValues(const Graph& graph);
  bool contains(ValueId value) const { return unchanged_[value]; }

 private:
  SideTable<ValueId, bool> unchanged_;
};

} // namespace dfc
