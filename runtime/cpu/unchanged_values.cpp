#include "runtime/cpu/unchanged_values.h"

namespace dfc {

UnchangedValues::UnchangedValues(const Graph& graph) : unchanged_(graph.valueCount()) {
  SideTable<ValueId, bool> assigned(graph.valueCount());
  SideTable<ValueId, uint32_t> readers(graph.valueCount(), 0);
  for (const OpId op : graph.opsOf(OpKind::Assign)) {
    assigned[graph[op].operands.front()] = true;
  }
  for (const OpId op : graph.ops()) {
    for (const ValueId operand : graph[op].operands) {
      ++readers[operand];
    }
  }
  for (const OpId op : graph.ops()) {
    const OpRow& row = graph[op];
    const ValueId result = row.firstResult;
    if (readers[result] != 1) {
      continue;
    }
    if (row.kind() == OpKind::Constant || row.kind() == OpKind::Parameter) {
      unchanged_[result] = !assigned[result];
    } else if (classOf(row.kind()) == OpClass::View) {
      unchanged_[result] = unchanged_[row.operands.front()];
    }
  }
}

} // namespace dfc
