#include "runtime/cpu/shared_values.h"

namespace dfc {

SharedValues::SharedValues(const Graph& graph) : graph_(graph), leaves_(graph.valueCount()) {
  for (const OpId op : graph.ops()) {
    if (graph[op].kind() == OpKind::Transfer) {
      leaves_[graph[op].operands.front()] = true;
    }
  }
}

SharedBuffers SharedValues::of(OpId op) const {
  SharedBuffers shared;
  shared.result = leaves_[graph_[op].firstResult];
  for (const ValueId operand : graph_[op].operands) {
    shared.operands.push_back(graph_[graph_[operand].producer].kind() == OpKind::Transfer);
  }
  return shared;
}

} // namespace dfc
