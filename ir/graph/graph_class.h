// Graph: a whole computation, immutable once built. Made by a Builder (dfc/builder.h) or read from a graph
// file (dfc/parse.h); planned by compile().
//
// Threads: a graph, once made, may be read by many threads at once.
#pragma once

#include "ir/base/ids.h"
#include "ir/base/table.h"
#include "ir/base/visibility.h"
#include "ir/graph/tensor_type.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace DFC_PUBLIC dfc {

struct GraphTables; // the ops and values
struct SourceLocation;
struct InternedProvenance;

/// A name and the type of what goes by it: an input, a parameter, a fetched result.
struct NamedType {
  std::string name; ///< the author's
  TensorType type;  ///< element type and shape
};

/// A computation as a value: copies of a finished graph share its tables, which nobody writes any more.
class Graph {
 public:
  Graph(); ///< of no ops, named "main"
  /// A copy of a finished graph shares its tables.
  Graph(const Graph& other) : tables_(other.shared()) {}
  /// The other is empty afterwards.
  Graph(Graph&& other) noexcept = default;
  /// As the constructor.
  Graph& operator=(const Graph& other);
  /// As the constructor.
  Graph& operator=(Graph&& other) noexcept = default;
  ~Graph() = default;

  /// The name that the author gave.
  const std::string& name() const;
  /// How many ops.
  size_t opCount() const;
  /// How many values.
  size_t valueCount() const;
  std::vector<NamedType> inputs() const;     ///< what a step is fed, in the order of writing
  std::vector<NamedType> parameters() const; ///< what outlives a step, in the order of writing
  std::vector<NamedType> results() const;    ///< what a step gives back: its fetches, in the order of writing

  /// @cond INTERNAL
  // Of the rooms of dfc, which include ir/graph/graph.h. Templates, so that they are inlined there though
  // the tables are unknown here.
  template <class IdT>
  const auto& operator[](IdT id) const {
    return rowOf(*tables_, id);
  }
  template <class T = GraphTables>
  auto ops() const {
    return static_cast<const T&>(*tables_).ops.ids();
  }
  template <class T = GraphTables>
  auto values() const {
    return static_cast<const T&>(*tables_).values.ids();
  }
  /// The ops of one kind, in the order of their ids.
  template <class Kind>
  auto opsOf(Kind kind) const {
    return opsOfKind(*tables_, kind);
  }
  template <class T = GraphTables>
  const auto& fetches() const {
    return static_cast<const T&>(*tables_).fetches;
  }
  /// The calls of `gradients` whose ops are in this graph; not kept by passes that copy it, nor by its text.
  template <class T = GraphTables>
  const auto& gradientRecords() const {
    return static_cast<const T&>(*tables_).gradientRecords;
  }
  template <class T = GraphTables>
  std::string_view text(StringId id) const {
    return static_cast<const T&>(*tables_).strings[id];
  }
  std::string_view nameOf(ValueId value) const;
  /// An op goes by the name of its first result; every op has one.
  std::string_view nameOf(OpId op) const;
  std::string_view scopeOf(OpId op) const;
  std::string_view pinOf(OpId op) const;
  SourceLocation locationOf(OpId op) const;
  InternedProvenance provenanceOf(OpId op) const;
  template <class IdT>
  const TensorType& typeOf(IdT value) const {
    return rowOf(*tables_, value).type;
  }
  template <class IdT>
  auto operandTypesOf(IdT op) const {
    return operandTypesIn(*tables_, op);
  }
  template <class IdT>
  auto resultTypesOf(IdT op) const {
    return resultTypesIn(*tables_, op);
  }
  ValueId findValue(std::string_view name) const; ///< invalid id when there is none
                                                  /// @endcond

 private:
  friend class GraphBuilder;
  friend struct GraphSurgeon; // of the tests: breaks what GraphBuilder would never make

  std::shared_ptr<GraphTables> shared() const;
  std::shared_ptr<GraphTables> tables_; // null after a move alone
};

} // namespace dfc
