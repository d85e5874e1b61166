#include "compiler/split/tied_ops.h"

#include "ir/graph/whole_state.h"

#include <llvm/ADT/Hashing.h>

#include <map>
#include <tuple>

namespace dfc {
namespace {

llvm::StringRef asRef(std::string_view text) { return {text.data(), text.size()}; }

size_t hashOf(const Graph& graph, OpId op, const SideTable<OpId, size_t>& colours) {
  const OpRow& row = graph[op];
  const bool isNamed = row.kind() == OpKind::Parameter || row.kind() == OpKind::Input;
  llvm::hash_code hash = llvm::hash_combine(static_cast<size_t>(row.kind()), row.scope.index(),
                                            isNamed ? asRef(authorNameOf(graph, op)) : llvm::StringRef());
  for (const ValueId result : row.results()) {
    const TensorType& type = graph.typeOf(result);
    hash = llvm::hash_combine(hash, static_cast<size_t>(type.element),
                              llvm::hash_combine_range(type.shape.dims().begin(), type.shape.dims().end()));
  }
  for (const ValueId operand : row.operands) {
    const OpId producer = graph[operand].producer;
    hash = llvm::hash_combine(hash, colours[producer], operand.index() - graph[producer].firstResult.index());
  }
  return hash;
}

} // namespace

std::vector<std::pair<OpId, OpId>> tiedOps(const Graph& graph, const Rows& rows) {
  SideTable<OpId, size_t> colours(graph.opCount(), 0);
  // counts: ops so far, by colour and row. last: the latest op, by colour and number within its row.
  std::map<std::pair<size_t, uint32_t>, size_t> counts;
  std::map<std::pair<size_t, size_t>, OpId> last;
  std::vector<std::pair<OpId, OpId>> ties;
  for (const OpId op : graph.ops()) {
    const size_t colour = colours[op] = hashOf(graph, op, colours);
    const size_t number = counts[{colour, rows.of[op]}]++;
    const auto [found, isNew] = last.try_emplace({colour, number}, op);
    if (!isNew) {
      ties.emplace_back(found->second, op);
      found->second = op;
    }
  }
  return ties;
}

} // namespace dfc
