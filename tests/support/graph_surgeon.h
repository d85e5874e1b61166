// GraphSurgeon: cuts into a finished graph, to prove that verifyGraph notices what GraphBuilder would never
// make.
#pragma once

#include "ir/graph.h"

namespace dfc {

struct GraphSurgeon {
  Graph& graph;
  OpRow& op(OpId id) { return graph.ops_[id]; }
  ValueRow& value(ValueId id) { return graph.values_[id]; }
  std::vector<Fetch>& fetches() { return graph.fetches_; }
  StringId name(std::string_view text) { return graph.strings_.intern(text); }
  ValueId addValue(const ValueRow& row) { return graph.values_.add(row); }
};

} // namespace dfc
