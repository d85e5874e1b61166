// Graph: a whole computation as append-only tables. An op names only values that exist, so id order is a
// topological order. Immutable once built: a pass makes a new one (ir/rewriter.h). GraphBuilder appends op by
// op and checks each type as it comes; the C++ DSL (ir/builder.h) and the text parser stand on it.
#pragma once

#include "ir/diagnostic.h"
#include "ir/ids.h"
#include "ir/op.h"
#include "ir/string_pool.h"
#include "ir/table.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>

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
    return std::get<T>(attributes);
  }
  template <class T>
  const T* getIf() const {
    return std::get_if<T>(&attributes);
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

class Graph {
 public:
  const OpRow& operator[](OpId op) const { return ops_[op]; }
  const ValueRow& operator[](ValueId value) const { return values_[value]; }
  IdRange<OpId> ops() const { return ops_.ids(); }
  IdRange<ValueId> values() const { return values_.ids(); }
  size_t opCount() const { return ops_.size(); }
  size_t valueCount() const { return values_.size(); }
  const std::vector<Fetch>& fetches() const { return fetches_; }
  const std::string& name() const { return name_; }

  std::string_view text(StringId id) const { return strings_[id]; }
  std::string_view nameOf(ValueId value) const { return text(values_[value].name); }
  /// An op goes by the name of its first result; every op has one.
  std::string_view nameOf(OpId op) const { return nameOf(ops_[op].firstResult); }
  std::string_view scopeOf(OpId op) const { return text(ops_[op].scope); }
  std::string_view pinOf(OpId op) const { return text(ops_[op].pin); }
  SourceLocation locationOf(OpId op) const;
  const TensorType& typeOf(ValueId value) const { return values_[value].type; }
  llvm::SmallVector<TensorType, 4> operandTypesOf(OpId op) const;
  llvm::SmallVector<TensorType, 4> resultTypesOf(OpId op) const;
  ValueId findValue(std::string_view name) const; ///< invalid id when there is none

 private:
  friend class GraphBuilder;
  friend struct GraphSurgeon; // of the tests: breaks what GraphBuilder would never make
  std::string name_ = "main";
  Table<OpId, OpRow> ops_;
  Table<ValueId, ValueRow> values_;
  std::vector<Fetch> fetches_;
  StringPool strings_;
  llvm::DenseMap<StringId, ValueId> byName_;
};

/// What an op carries beside its meaning.
struct OpSite {
  std::string_view name =
      {}; ///< of the first result; made unique by a suffix; "" gives one from the op's kind
  std::string_view scope = {};
  std::string_view pin = {};
  SourceLocation where = {};
};

/// Appends ops. A mistake of the author is recorded, located, and the op's results are invalid ids; an op
/// with an invalid operand is skipped without another message. `finish` gives the graph or every recorded
/// error.
class GraphBuilder {
 public:
  explicit GraphBuilder(std::string name = "main");

  /// The id of the new op, or an invalid id when an operand is invalid or the type rule fails.
  OpId append(OpAttributes attributes, llvm::ArrayRef<ValueId> operands, const OpSite& site);
  ValueId result(OpId op, uint32_t index = 0) const; ///< invalid when `op` is
  void fetch(std::string_view name, ValueId value, const SourceLocation& where = {});
  /// The name is made unique by a suffix ".2", ".3", …; "" gives one from the op's kind.
  void rename(ValueId value, std::string_view name);
  void repin(OpId op, std::string_view pin);
  void report(Diagnostic diagnostic) { errors_.push_back(std::move(diagnostic)); }
  const Diagnostics& errors() const { return errors_; }

  /// The ops so far; may be read at any time.
  const Graph& soFar() const { return graph_; }
  Result<Graph> finish() &&;

 private:
  StringId uniqueName(std::string_view wanted);
  void addResults(OpRow& row, llvm::ArrayRef<TensorType> types, std::string_view name);
  bool checkAssign(const OpRow& row, const OpSite& site);

  Graph graph_;
  Diagnostics errors_;
  SideTable<ValueId, bool> assigned_; ///< parameters that have an assign
  llvm::DenseMap<StringId, uint32_t> nextSuffix_;
  llvm::DenseSet<StringId> fetched_;
};

} // namespace dfc
