// Provenance: executes a plan with origins instead of numbers. Every byte carries the name of what was
// written there; what an op writes is named after the op and the names of all bytes that it read. So two
// executions end with the same names exactly when each fetched value and each parameter was computed in the
// same way from the same things, and an execution in which a race is lost, a transfer forgotten or a value
// overwritten ends with others, whatever the numbers would have been. Knows no rule of any verifier.
#pragma once

#include "ir/graph/literal.h"
#include "tests/property/command_order.h"

namespace dfc::test {

/// What a session writes into the arenas before the first round, in its order: all that is resident, then the
/// parameters of `state` by name.
std::vector<std::pair<ValueId, Literal>> initialWrites(const PlacedGraph& placed, const NamedLiterals& state);

struct Origins {
  std::vector<uint64_t> names; ///< of the fetched values of each round and of the parameters at the end
  /// A kernel wrote over an operand that it may not run in place on, so that what it read is a matter of its
  /// own loops: nothing is known of what comes after.
  bool torn = false;
  friend bool operator==(const Origins&, const Origins&) = default;
};

/// The memory is one unnamed thing before `initial` is written; each round is fed anew. An op that only moves
/// bytes, in at most a few pieces, passes their names on.
Origins provenanceOf(const Executable& plan, const CommandOrder& commands, const Sequence& sequence,
                     const std::vector<std::pair<ValueId, Literal>>& initial, int rounds);

} // namespace dfc::test
