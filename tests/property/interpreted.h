// Interpreted: executes a plan's commands in one order with real bytes, every op by the plain interpreter
// (compiler/interpreter/evaluate.h), on memory that is NaN where nobody wrote. Says whether a damage that
// changes where values come from changes any number: x * y in the place of y * x does not.
#pragma once

#include "ir/graph/literal.h"
#include "tests/property/command_order.h"

namespace dfc::test {

/// The fetched values of each round, then the parameters at the end. `rounds` are the feeds by round;
/// `initial` is what lies in memory first (provenance.h).
std::vector<Literal> interpreted(const Executable& plan, const CommandOrder& commands,
                                 const Sequence& sequence,
                                 const std::vector<std::pair<ValueId, Literal>>& initial,
                                 const std::vector<NamedLiterals>& rounds);

} // namespace dfc::test
