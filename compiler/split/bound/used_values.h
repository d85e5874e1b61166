// UsedValues: which operands are read whole by ops that a fetch or an assign needs. A split may drop parts of
// other ops, such as those of rows that only a slice reads, and leaves them out.
#pragma once

#include "ir/graph/graph.h"

#include <vector>

namespace dfc {

class UsedValues {
 public:
  explicit UsedValues(const Graph& graph);
  /// Whether all elements of the op's results are needed: no device's part of it is dropped.
  bool isNeeded(OpId op) const { return needed_[op]; }
  /// Whether a needed op reads each element of this operand, however it is cut.
  bool isReadWhole(OpId reader, size_t operand) const { return needed_[reader] && whole_[reader][operand]; }

 private:
  SideTable<OpId, bool> needed_;
  SideTable<OpId, std::vector<bool>> whole_; ///< by operand, of any part of the op's
};

} // namespace dfc
