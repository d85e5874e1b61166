#include "runtime/cpu/unchanged_values.h"

#include <optional>

namespace dfc {
namespace {

// The operand of which kernels of this kind keep a packed copy.
std::optional<size_t> packedOperand(OpKind kind) {
  switch (kind) {
  case OpKind::Matmul:
  case OpKind::FusedMatmul:
  case OpKind::Conv2d:
  case OpKind::FusedConv2d: return 1;
  case OpKind::Conv2dInputGradient: return 0;
  default: return std::nullopt;
  }
}

// Bytes that kernels would keep of each value: of its readers, and of those of its views.
SideTable<ValueId, int64_t> keptBytes(const Graph& graph) {
  SideTable<ValueId, int64_t> kept(graph.valueCount(), 0);
  for (size_t index = graph.opCount(); index-- > 0;) {
    const OpRow& row = graph[OpId(static_cast<uint32_t>(index))];
    const std::optional<size_t> packed = packedOperand(row.kind());
    for (size_t i = 0; i < row.operands.size(); ++i) {
      const ValueId operand = row.operands[i];
      if (packed == i) {
        kept[operand] += graph[operand].type.bytes();
      } else if (classOf(row.kind()) == OpClass::View) {
        kept[operand] += kept[row.firstResult];
      }
    }
  }
  return kept;
}

} // namespace

UnchangedValues::UnchangedValues(const Graph& graph)
    : unchanged_(graph.valueCount()), copy_(graph.valueCount()) {
  SideTable<ValueId, bool> assigned(graph.valueCount()), same(graph.valueCount());
  for (const OpId op : graph.opsOf(OpKind::Assign)) {
    assigned[graph[op].operands.front()] = true;
  }
  const SideTable<ValueId, int64_t> kept = keptBytes(graph);
  for (const OpId op : graph.ops()) {
    const OpRow& row = graph[op];
    const ValueId result = row.firstResult;
    const OpClass opClass = classOf(row.kind());
    if (row.kind() == OpKind::Constant || row.kind() == OpKind::Parameter) {
      same[result] = !assigned[result];
      unchanged_[result] = same[result] && kept[result] <= graph[result].type.bytes();
    } else if (opClass == OpClass::View) {
      same[result] = same[row.operands.front()];
      unchanged_[result] = unchanged_[row.operands.front()];
      copy_[result] = copy_[row.operands.front()];
    } else if (opClass == OpClass::Transfer) {
      same[result] = copy_[result] = same[row.operands.front()];
      unchanged_[result] = same[result] && kept[result] <= graph[result].type.bytes();
    }
  }
}

} // namespace dfc
