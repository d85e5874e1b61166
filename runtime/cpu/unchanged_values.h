// UnchangedValues: the values of a graph that are the same in every step, and that one op reads: constants,
// parameters that no op assigns, and views of them. Only the caller changes these, between steps. What a
// kernel makes of a value with more readers would be kept once for each, as in micro-batches.
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
