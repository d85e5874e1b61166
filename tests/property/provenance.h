// Provenance: a symbolic execution of a plan. Every byte carries a name: a hash of the op that wrote it and
// of the names of all bytes that the op read. Two executions end with equal names exactly when each fetched
// value and each parameter was computed by the same expression from the same inputs. An execution with a lost
// race, a missing transfer or an overwritten value ends with other names, whatever the numbers would have
// been. Uses no rule of any verifier.
#pragma once

#include "ir/graph/literal.h"
#include "tests/property/command_order.h"

namespace dfc::test {

/// The writes of a session to its arenas before the first step, in order: all resident values, then the
/// parameters of `state` by name.
std::vector<std::pair<ValueId, Literal>> initialWrites(const PlacedGraph& placed, const NamedLiterals& state);

struct Origins {
  std::vector<uint64_t> names; ///< of the fetched values of each step and of the parameters at the end
  /// A kernel overwrote an operand that it may not run in place on. Its reads then depend on its own loops,
  /// so the later names mean nothing.
  bool torn = false;
  friend bool operator==(const Origins&, const Origins&) = default;
};

/// Memory has no names before `initial` is written; each step has feeds of its own. An op that only moves
/// bytes, in at most a few pieces, passes their names on.
Origins provenanceOf(const Executable& plan, const CommandOrder& commands, const Sequence& sequence,
                     const std::vector<std::pair<ValueId, Literal>>& initial, int steps);

} // namespace dfc::test
