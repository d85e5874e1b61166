// Shared parts of the verifiers; see parts.h.
#include "ir/verify/parts.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc {

void Findings::at(OpId op, std::string message, std::string hint) {
  errors_.push_back({Severity::Error, graph_.locationOf(op), std::move(message), std::move(hint)});
}

void Findings::add(std::string message, std::string hint) {
  errors_.push_back(errorWithoutPlace(std::move(message), std::move(hint)));
}

Readers::Readers(const Graph& graph) : first_(graph.valueCount() + 1) {
  const auto eachOperand = [&](auto&& visit) {
    SideTable<ValueId, OpId> lastReader(graph.valueCount());
    for (const OpId op : graph.ops()) {
      for (const ValueId operand : graph[op].operands) {
        if (lastReader[operand] != op) {
          lastReader[operand] = op;
          visit(op, operand.index());
        }
      }
    }
  };
  eachOperand([&](OpId, uint32_t value) { ++first_[value + 1]; });
  for (size_t i = 1; i < first_.size(); ++i) {
    first_[i] += first_[i - 1];
  }
  ops_.resize(first_.back());
  std::vector<uint32_t> next(first_.begin(), first_.end() - 1);
  eachOperand([&](OpId op, uint32_t value) { ops_[next[value]++] = op; });
}

llvm::ArrayRef<OpId> Readers::of(ValueId value) const {
  return llvm::ArrayRef<OpId>(ops_).slice(first_[value.index()],
                                          first_[value.index() + 1] - first_[value.index()]);
}

std::vector<OpId> Readers::ofStorage(const Graph& graph, ValueId value) const {
  std::vector<OpId> found;
  std::vector<ValueId> open = {value};
  while (!open.empty()) {
    const ValueId next = open.back();
    open.pop_back();
    for (const OpId reader : of(next)) {
      found.push_back(reader);
      if (classOf(graph[reader].kind()) == OpClass::View) {
        open.push_back(graph[reader].firstResult);
      }
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

} // namespace dfc
