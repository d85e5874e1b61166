// minimise: the cheapest choice of one option for each variable, where costs are tables over few variables
// each: exact variable elimination (Bertele and Brioschi 1972, "Nonserial Dynamic Programming"), in the order
// of least table size. Graphs of training steps have small elimination width, so tables stay small.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SmallVector.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dfc {

/// Costs of one or two variables; with two, row-major by the first.
struct ChoiceTable {
  llvm::SmallVector<uint32_t, 2> variables;
  std::vector<double> costs;
};

struct ChoiceProblem {
  std::vector<uint32_t> options; ///< how many, by variable
  std::vector<ChoiceTable> tables;
  uint32_t addVariable(size_t optionCount) {
    options.push_back(static_cast<uint32_t>(optionCount));
    return static_cast<uint32_t>(options.size() - 1);
  }
};

struct ChoiceResult {
  std::vector<uint32_t> option; ///< by variable
  double cost = 0;              ///< infinite where no choice is allowed
  bool exact = true;            ///< whether no variable had to be settled before its turn
};

/// The least sum of the tables. A variable whose elimination would need a table of more than `mostEntries` is
/// settled by its own costs and the least of its neighbours'; the result is then not exact. It is improved
/// one variable at a time (iterated conditional modes: Besag 1986), and joined with each of `starts`, other
/// choices: of the two, each variable takes one, the best by elimination (fusion moves: Lempitsky et al.
/// 2010).
ChoiceResult minimise(const ChoiceProblem& problem, llvm::ArrayRef<std::vector<uint32_t>> starts = {},
                      size_t mostEntries = size_t{1} << 14);

/// The variables in the given order, each with the option of the least cost beside those before it; then the
/// others in order of their numbers. `fixed`: the option of a variable that is not chosen, or `undecided`.
inline constexpr uint32_t undecided = ~0U;
std::vector<uint32_t> chooseInOrder(const ChoiceProblem& problem, llvm::ArrayRef<uint32_t> order,
                                    std::vector<uint32_t> fixed);

} // namespace dfc
