// Graph: a whole computation as append-only tables. An op names only values that exist, so id order is a
// topological order. Immutable once built: a pass makes a new one (ir/graph/rewriter.h). GraphBuilder appends
// op by op and checks each type as it comes; the C++ DSL (ir/author/builder.h) and the text parser stand on
// it.
//
// Threads: a graph, once made, may be read by many threads at once; a GraphBuilder is used by one at a time.
#pragma once

#include "ir/base/diagnostic.h"
#include "ir/base/id_map.h"
#include "ir/base/string_pool.h"
#include "ir/base/table.h"
#include "ir/graph/graph_class.h"
#include "ir/graph/op.h"

#include <llvm/ADT/ArrayRef.h>

#include <array>
#include <memory>
#include <string_view>

namespace dfc {

struct OpRow {
  OpAttributes attributes;
  llvm::SmallVector<ValueId, 3> operands;
  ValueId firstResult;
  uint32_t resultCount = 0;
  StringId scope; ///< names of the nested scopes joined by '/', "" outside any
  StringId pin;   ///< device name or pattern that the author asked for, "" for none
  StringId file;  ///< where the author wrote it
  uint32_t line = 0, column = 0;

  OpKind kind() const { return kindOf(attributes); }
  /// The attributes as their struct; asserts the kind.
  template <class T>
  const T& as() const {
    return attributes.as<T>();
  }
  template <class T>
  const T* getIf() const {
    return attributes.getIf<T>();
  }
  IdRange<ValueId> results() const { return {firstResult.index(), firstResult.index() + resultCount}; }
};

struct ValueRow {
  TensorType type;
  OpId producer;
  StringId name; ///< unique among the graph's values
};

/// A value that the caller gets back after a step, under a name.
struct Fetch {
  StringId name;
  ValueId value;
};

/// What an op carries beside its meaning, by the ids of a graph's strings.
struct InternedProvenance {
  StringId name, scope, pin, file;
  uint32_t line = 0, column = 0;
};

/// A call of `gradients` in the DSL: its arguments, its results and the ops that it appended. A pass that
/// changes ops between `wrt` and `loss` may remove them and differentiate again. Not part of a graph's text.
struct GradientRecord {
  ValueId loss;
  std::vector<ValueId> wrt, results;
  OpId first, end; ///< the ops between them, `end` not included
};

/// What a Graph holds.
struct GraphTables {
  std::string name = "main";
  Table<OpId, OpRow> ops;
  Table<ValueId, ValueRow> values;
  std::array<std::vector<OpId>, opKindCount> opsOfKind;
  std::vector<Fetch> fetches;
  std::vector<GradientRecord> gradientRecords;
  StringPool strings;
  SideTable<StringId, ValueId> byName; ///< as far as names were given; invalid for other strings
  bool finished = false;               ///< a graph still under construction is copied, not shared
};

// What the templates of Graph call.
inline const OpRow& rowOf(const GraphTables& tables, OpId op) { return tables.ops[op]; }
inline const ValueRow& rowOf(const GraphTables& tables, ValueId value) { return tables.values[value]; }
inline llvm::ArrayRef<OpId> opsOfKind(const GraphTables& tables, OpKind kind) {
  return tables.opsOfKind[static_cast<size_t>(kind)];
}
llvm::SmallVector<TensorType, 4> operandTypesIn(const GraphTables& tables, OpId op);
llvm::SmallVector<TensorType, 4> resultTypesIn(const GraphTables& tables, OpId op);

/// What an op carries beside its meaning.
struct Provenance {
  std::string_view name =
      {}; ///< of the first result; made unique by a suffix; "" gives one from the op's kind
  std::string_view scope = {};
  std::string_view pin = {};
  SourceLocation where = {};
};

/// Appends ops. A mistake of the author is recorded, located, and the op's results are invalid ids; an op
/// with an invalid operand is skipped without another message. `finish` gives the graph with the warnings, or
/// every recorded error.
class GraphBuilder {
 public:
  explicit GraphBuilder(std::string name = "main");
  /// Starts a graph made from `old`: empty, of the same name, in which the ids of `old`'s strings stay good.
  explicit GraphBuilder(const Graph& old);

  /// The id of the new op, or an invalid id when an operand is invalid or the type rule fails.
  OpId append(OpAttributes attributes, llvm::ArrayRef<ValueId> operands, const Provenance& provenance);
  OpId appendInterned(OpAttributes attributes, llvm::ArrayRef<ValueId> operands,
                      const InternedProvenance& provenance);
  StringId intern(std::string_view text) { return tables().strings.intern(text); }
  ValueId result(OpId op, uint32_t index = 0) const; ///< invalid when `op` is
  void fetch(std::string_view name, ValueId value, const SourceLocation& where = {});
  void record(GradientRecord gradients) { tables().gradientRecords.push_back(std::move(gradients)); }
  /// The name is made unique by a suffix ".2", ".3", …; "" gives one from the op's kind.
  void rename(ValueId value, std::string_view name);
  void rename(ValueId value, StringId name);
  void repin(OpId op, std::string_view pin);
  void report(Diagnostic diagnostic);
  const Diagnostics& errors() const { return errors_; }
  const Diagnostics& warnings() const { return warnings_; }

  /// The ops so far; may be read at any time.
  const Graph& soFar() const { return graph_; }
  Result<Graph> finish() &&;

 private:
  GraphTables& tables() { return *graph_.tables_; }
  StringId uniqueName(StringId wanted);
  void giveName(ValueId value, StringId name);
  void addResults(OpRow& row, llvm::ArrayRef<TensorType> types, StringId name);
  bool checkAssign(const OpRow& row, const SourceLocation& where);

  Graph graph_;
  Diagnostics errors_, warnings_;
  SideTable<ValueId, bool> assigned_; ///< parameters that have an assign
  llvm::DenseMap<StringId, uint32_t> nextSuffix_;
  llvm::DenseSet<StringId> fetched_;
};

/// Bytes from the first of a view's operand to the first of its result.
int64_t viewOffset(const Graph& graph, const OpRow& view);

} // namespace dfc
