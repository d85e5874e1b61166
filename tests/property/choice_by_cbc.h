// A ChoiceProblem solved as an integer linear program by COIN-OR's cbc, where that program is installed: an
// oracle that shares no code with the compiler.
#pragma once

#include "compiler/split/choice/choice_problem.h"

#include <optional>

namespace dfc::test {

/// Whether `cbc` is in the path.
bool hasCbc();

/// The least cost; nothing if cbc finds none.
std::optional<double> leastByCbc(const ChoiceProblem& problem);

} // namespace dfc::test
