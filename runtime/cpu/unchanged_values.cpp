#include "runtime/cpu/unchanged_values.h"

namespace dfc {

UnchangedValues::UnchangedValues(const Graph& graph) : unchanged_(graph.valueCount()) {
  SideTable<ValueId, bool> assigned(graph.valueCount());
  for (const OpId op : graph.opsOf(OpKind::Assign)) {
    assigned[graph[op].operands.front()] = true;
  }
  for (const OpId op : graph.ops()) {
    const OpRow& row = graph[op];
    const ValueId result = row.firstResult;
    if (row.kind() == OpKind::Constant || row.kind() == OpKind::Parameter) {
      unchanged_[result] = !assigned[result];
    } else if (classOf(row.kind()) == OpClass::View) {
      unchanged_[result] = unchanged_[row.operands.front()];
    }
  }
}

} // namespace dfc
