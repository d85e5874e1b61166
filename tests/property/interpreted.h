// Interpreted: executes a plan's commands in one order with real bytes, every op by the plain interpreter
// (compiler/interpreter/evaluate.h), on memory that is NaN where nothing was written. Tells whether a
// mutant that changes provenance changes any number: x * y in place of y * x does not.
#pragma once

#include "ir/graph/literal.h"
#include "tests/property/command_order.h"

namespace dfc::test {

/// The fetched values of each step, then the parameters at the end. `steps` are the feeds by step;
/// `initial`: the memory before the first step (provenance.h).
std::vector<Literal> interpreted(const Executable& plan, const CommandOrder& commands,
                                 const Sequence& sequence,
                                 const std::vector<std::pair<ValueId, Literal>>& initial,
                                 const std::vector<NamedLiterals>& steps);

} // namespace dfc::test
