// minimise: the cheapest choice, by elimination where its tables stay small, else improved from several
// starts.
#pragma once

#include "compiler/split/choice/choice_problem.h"

#include <llvm/ADT/ArrayRef.h>

namespace dfc {

/// The least sum of the tables, by `eliminate`. Where that is not exact, its choice is improved one variable
/// at a time (iterated conditional modes: Besag 1986), and joined with each of `starts`, other choices: of
/// the two, each variable takes one, the best by elimination (fusion moves: Lempitsky et al. 2010).
ChoiceResult minimise(const ChoiceProblem& problem, llvm::ArrayRef<std::vector<uint32_t>> starts = {},
                      size_t mostEntries = size_t{1} << 14);

/// The variables in the given order, each with the option of the least cost beside those before it; then the
/// others in order of their numbers. `fixed`: the option of a variable that is not chosen, or `undecided`.
inline constexpr uint32_t undecided = ~0U;
std::vector<uint32_t> chooseInOrder(const ChoiceProblem& problem, llvm::ArrayRef<uint32_t> order,
                                    std::vector<uint32_t> fixed);

} // namespace dfc
