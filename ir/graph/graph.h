// Graph: a whole computation as append-only tables. An op names only values that exist, so id order is a
// topological order. Immutable once built: a pass makes a new one (ir/graph/rewriter.h). GraphBuilder appends
// op by op and checks each type as it comes; the C++ DSL (ir/author/builder.h) and the text parser stand on
// it.
//
// Threads: a graph, once made, may be read by many threads at once; a GraphBuilder is used by one at a time.
#pragma once

#include "ir/base/diagnostic.h"
#include "ir/base/ids.h"
#include "ir/base/string_pool.h"
#include "ir/base/table.h"
#include "ir/graph/op.h"

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>

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
struct InternedSite {
  StringId name, scope, pin, file;
  uint32_t line = 0, column = 0;
};

/// A value as well: copies of a finished graph share its tables, which nobody writes any more.
class Graph {
 public:
  Graph() : tables_(std::make_shared<Tables>()) {}
  Graph(const Graph& other) : tables_(other.shared()) {}
  Graph(Graph&& other) noexcept = default;
  Graph& operator=(const Graph& other);
  Graph& operator=(Graph&& other) noexcept = default;
  ~Graph() = default;

  const OpRow& operator[](OpId op) const { return tables_->ops[op]; }
  const ValueRow& operator[](ValueId value) const { return tables_->values[value]; }
  IdRange<OpId> ops() const { return tables_->ops.ids(); }
  IdRange<ValueId> values() const { return tables_->values.ids(); }
  /// The ops of one kind, in the order of their ids.
  llvm::ArrayRef<OpId> opsOf(OpKind kind) const { return tables_->opsOfKind[static_cast<size_t>(kind)]; }
  size_t opCount() const { return tables_->ops.size(); }
  size_t valueCount() const { return tables_->values.size(); }
  const std::vector<Fetch>& fetches() const { return tables_->fetches; }
  const std::string& name() const { return tables_->name; }

  std::string_view text(StringId id) const { return tables_->strings[id]; }
  std::string_view nameOf(ValueId value) const { return text((*this)[value].name); }
  /// An op goes by the name of its first result; every op has one.
  std::string_view nameOf(OpId op) const { return nameOf((*this)[op].firstResult); }
  std::string_view scopeOf(OpId op) const { return text((*this)[op].scope); }
  std::string_view pinOf(OpId op) const { return text((*this)[op].pin); }
  SourceLocation locationOf(OpId op) const;
  InternedSite siteOf(OpId op) const;
  const TensorType& typeOf(ValueId value) const { return (*this)[value].type; }
  llvm::SmallVector<TensorType, 4> operandTypesOf(OpId op) const;
  llvm::SmallVector<TensorType, 4> resultTypesOf(OpId op) const;
  ValueId findValue(std::string_view name) const; ///< invalid id when there is none

 private:
  friend class GraphBuilder;
  friend struct GraphSurgeon; // of the tests: breaks what GraphBuilder would never make

  struct Tables {
    std::string name = "main";
    Table<OpId, OpRow> ops;
    Table<ValueId, ValueRow> values;
    std::array<std::vector<OpId>, opKindCount> opsOfKind;
    std::vector<Fetch> fetches;
    StringPool strings;
    SideTable<StringId, ValueId> byName; // as far as names were given; invalid for other strings
    bool finished = false;               // a graph still under construction is copied, not shared
  };
  std::shared_ptr<Tables> shared() const;
  std::shared_ptr<Tables> tables_; // null after a move alone
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
/// with an invalid operand is skipped without another message. `finish` gives the graph with the warnings, or
/// every recorded error.
class GraphBuilder {
 public:
  explicit GraphBuilder(std::string name = "main");
  /// Starts a graph made from `old`: empty, of the same name, in which the ids of `old`'s strings stay good.
  explicit GraphBuilder(const Graph& old);

  /// The id of the new op, or an invalid id when an operand is invalid or the type rule fails.
  OpId append(OpAttributes attributes, llvm::ArrayRef<ValueId> operands, const OpSite& site);
  OpId appendInterned(OpAttributes attributes, llvm::ArrayRef<ValueId> operands, const InternedSite& site);
  StringId intern(std::string_view text) { return tables().strings.intern(text); }
  ValueId result(OpId op, uint32_t index = 0) const; ///< invalid when `op` is
  void fetch(std::string_view name, ValueId value, const SourceLocation& where = {});
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
  Graph::Tables& tables() { return *graph_.tables_; }
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

} // namespace dfc
