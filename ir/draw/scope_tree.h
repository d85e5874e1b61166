// scopeTree: the ops of a placed graph by nested scope, with equal layers folded: scopes side by side whose
// names differ in numbers alone ("h.0" to "h.11"), and which compute on the same devices, lie in one fold.
// Ops outside of all scopes are grouped by the scope that they follow, so that the groups are in the order of
// computation.
#pragma once

#include "ir/plan/placed_graph.h"

#include <string>
#include <vector>

namespace dfc {

struct ScopeNode {
  enum class Kind : uint8_t {
    Root,
    Scope,
    Fold,    ///< its children are equal layers
    Outside, ///< ops outside of any scope
  };
  static constexpr uint32_t none = ~0U;
  Kind kind = Kind::Scope;
  uint32_t parent = none;  ///< index; smaller than its own
  std::string name;        ///< "attn", "h.*", "" of Root and Outside
  std::string path;        ///< of all nested scopes, folded: "h.*/attn"
  uint32_t layers = 1;     ///< Fold: how many
  bool layersEqual = true; ///< Fold: all have ops of the same kinds and types
  double order = 0;        ///< by which siblings are sorted: the mean id of its ops; of Outside the first
};

struct ScopeTree {
  /// More nested scopes are one, their names joined by '/'.
  static constexpr size_t mostLevels = 12;
  std::vector<ScopeNode> nodes;     ///< the root first, parents before their children
  SideTable<OpId, uint32_t> nodeOf; ///< the innermost, by index
};

ScopeTree scopeTree(const PlacedGraph& placed);

} // namespace dfc
