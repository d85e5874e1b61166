#include "compiler/split/bound/used_values.h"

#include "compiler/split/op_options.h"

#include <llvm/ADT/STLExtras.h>

namespace dfc {
namespace {

// Whether the positions of a factor look at every element of the axis.
bool coversAxis(const SplitAxis& at, int64_t extent) {
  const bool leavesGaps = at.form == SplitAxis::Form::Forward && at.stride > at.span;
  return !at.cut() || (!leavesGaps && at.elements({0, extent}) == SplitRange{0, at.length});
}

std::vector<bool> readWhole(const Graph& graph, OpId op) {
  const SplitRule rule = ruleOf(graph, op);
  std::vector<bool> whole(graph[op].operands.size(), true);
  for (size_t i = 0; i < whole.size(); ++i) {
    whole[i] = llvm::all_of(rule.factors, [&](const SplitFactor& factor) {
      return coversAxis(factor.operands[i], factor.extent);
    });
  }
  return whole;
}

} // namespace

UsedValues::UsedValues(const Graph& graph) : needed_(graph.opCount(), false), whole_(graph.opCount()) {
  for (const Fetch& fetch : graph.fetches()) {
    needed_[graph[fetch.value].producer] = true;
  }
  for (uint32_t i = static_cast<uint32_t>(graph.opCount()); i-- > 0;) {
    const OpId op(i);
    whole_[op] = readWhole(graph, op);
    needed_[op] = needed_[op] || graph[op].kind() == OpKind::Assign;
    for (size_t operand = 0; operand < whole_[op].size(); ++operand) {
      const OpId producer = graph[graph[op].operands[operand]].producer;
      needed_[producer] = needed_[producer] || isReadWhole(op, operand);
    }
  }
}

} // namespace dfc
