// eliminate: the cheapest choice by exact variable elimination (Bertele and Brioschi 1972, "Nonserial Dynamic
// Programming"), in the order of least table size. Graphs of training steps have small elimination width, so
// tables stay small.
#pragma once

#include "compiler/split/choice/choice_problem.h"

namespace dfc {

/// The least sum of the tables. A variable whose elimination would need a table of more than `mostEntries` is
/// settled by its own costs and the least of its neighbours'; the result is then not exact.
ChoiceResult eliminate(const ChoiceProblem& problem, size_t mostEntries);

/// A lower bound of the least sum of the tables, equal to it where no elimination needs a table of more than
/// `mostEntries`. Else the tables of a variable are minimised in groups, each with an option of its own:
/// mini-buckets (Dechter and Rish 2003, "Mini-Buckets: A General Scheme for Bounded Inference"). Infinite
/// only where no choice is allowed.
double leastBound(const ChoiceProblem& problem, size_t mostEntries);

} // namespace dfc
