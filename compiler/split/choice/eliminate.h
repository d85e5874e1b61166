// eliminate: the cheapest choice by exact variable elimination (Bertele and Brioschi 1972, "Nonserial Dynamic
// Programming"), in the order of least table size. Graphs of training steps have small elimination width, so
// tables stay small.
#pragma once

#include "compiler/split/choice/choice_problem.h"

namespace dfc {

/// The least sum of the tables. A variable whose elimination would need a table of more than `mostEntries` is
/// settled by its own costs and the least of its neighbours'; the result is then not exact.
ChoiceResult eliminate(const ChoiceProblem& problem, size_t mostEntries);

} // namespace dfc
