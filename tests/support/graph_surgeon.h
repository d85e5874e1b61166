// GraphSurgeon: cuts into a finished graph, to prove that verifyGraph notices what GraphBuilder would never
// make.
#pragma once

#include "ir/graph/graph.h"

namespace dfc {

struct GraphSurgeon {
  Graph& graph;
  /// A row may become one of another kind, for as long as the surgeon is there: then ops are listed anew.
  ~GraphSurgeon() { listByKind(); }
  OpRow& op(OpId id) { return tables().ops[id]; }
  ValueRow& value(ValueId id) { return tables().values[id]; }
  std::vector<Fetch>& fetches() { return tables().fetches; }
  StringId name(std::string_view text) { return tables().strings.intern(text); }
  ValueId addValue(const ValueRow& row) { return tables().values.add(row); }

 private:
  void listByKind() {
    for (std::vector<OpId>& alike : tables().opsOfKind) {
      alike.clear();
    }
    for (const OpId op : graph.ops()) {
      tables().opsOfKind[static_cast<size_t>(graph[op].kind())].push_back(op);
    }
  }

  // Copies of a graph share its tables: only this one is to be broken.
  GraphTables& tables() {
    if (graph.tables_.use_count() > 1) {
      graph.tables_ = std::make_shared<GraphTables>(*graph.tables_);
    }
    return *graph.tables_;
  }
};

} // namespace dfc
