// Forward over the ops once for where an input goes, then once over its data.
#include "tools/dfc/io/labels.h"

#include "ir/graph/whole_state.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc::tool {
namespace {

enum class Part : uint8_t { None, Some, All };

struct LabelUse {
  OpId op;
  int64_t classes = 0;
  Part part = Part::None;
};

/// How much of the input the op's result holds, as it is.
Part partIn(const Graph& graph, OpId op, const SideTable<ValueId, Part>& parts) {
  const OpRow& row = graph[op];
  if (row.operands.empty()) {
    return Part::None;
  }
  const Part operand = parts[row.operands[0]];
  const OpClass kind = classOf(row.kind());
  if (row.kind() == OpKind::Slice) {
    return std::min(operand, Part::Some);
  }
  const bool keeps = kind == OpClass::Transfer || kind == OpClass::View || row.kind() == OpKind::Transpose;
  return keeps ? operand : Part::None;
}

/// The use with the fewest classes.
std::optional<LabelUse> strictestUse(const Graph& graph, std::string_view input) {
  SideTable<ValueId, Part> parts(graph.valueCount(), Part::None);
  for (const OpId op : graph.opsOf(OpKind::Input)) {
    if (authorNameOf(graph, op) == input) { // one of several, where the input is split
      parts[graph[op].firstResult] = Part::All;
    }
  }
  std::optional<LabelUse> strictest;
  for (const OpId op : graph.ops()) {
    const OpRow& row = graph[op];
    if (row.kind() == OpKind::SoftmaxCrossEntropy && parts[row.operands[1]] != Part::None) {
      const int64_t classes = graph.typeOf(row.operands[0]).shape[1];
      if (!strictest || classes < strictest->classes) {
        strictest = LabelUse{op, classes, parts[row.operands[1]]};
      }
    } else if (row.resultCount == 1 && parts[row.firstResult] == Part::None) {
      parts[row.firstResult] = partIn(graph, op, parts);
    }
  }
  return strictest;
}

} // namespace

std::optional<WrongLabel> wrongLabel(const Graph& graph, std::string_view input, const Literal& data) {
  const auto use = strictestUse(graph, input);
  const int64_t count = use ? data.type().shape.elements() : 0;
  for (int64_t i = 0; i < count; ++i) {
    const double label = data.at(i);
    if (!(label >= 0 && label < static_cast<double>(use->classes))) {
      return WrongLabel{fmt::format("element {} is {}, but op '{}' has {} classes, 0 to {}", i, label,
                                    graph.nameOf(use->op), use->classes, use->classes - 1),
                        use->part == Part::All};
    }
  }
  return std::nullopt;
}

} // namespace dfc::tool
