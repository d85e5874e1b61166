// PlacedGraph: the placed computation with every movement between devices made an explicit `transfer` op,
// every parameter present on each device that reads it, and the orderings that make writing state in place
// safe.
#pragma once

#include "ir/graph/graph.h"
#include "ir/machine/machine.h"

#include <llvm/ADT/DenseMap.h>

namespace dfc {

/// What a transfer op does. One hop: a staged copy is two transfer ops.
struct TransferRow {
  DeviceId from, to;
  std::vector<LinkId> links;
  int64_t bytes = 0;
};

/// `before` ends before `after` starts, although no value passes: a reader of a parameter's old value against
/// the op that overwrites it.
struct Ordering {
  OpId before, after;
};

/// Parameters and constants are resident before the first step; they have no step of their own.
inline bool isResident(OpKind kind) { return kind == OpKind::Parameter || kind == OpKind::Constant; }

struct PlacedGraph {
  Graph graph;
  SideTable<OpId, DeviceId> device;            ///< a transfer: its destination
  llvm::DenseMap<OpId, TransferRow> transfers; ///< exactly the transfer ops
  /// A parameter read on a device other than its own has a replica there: a parameter op of the same initial
  /// value, refreshed by `assign(replica, transfer(next value))` in each step that assigns the original. A
  /// parameter of f32 that is cast to f16 or bf16 has one of that type on the device of the cast, refreshed
  /// by the cast of the next value. Replica -> original.
  llvm::DenseMap<OpId, OpId> replicas;
  std::vector<Ordering> orderings;

  bool isResident(OpId op) const { return dfc::isResident(graph[op].kind()); }
};

} // namespace dfc
