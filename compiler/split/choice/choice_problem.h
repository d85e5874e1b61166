// ChoiceProblem: one option for each variable, with costs that are tables over one or two variables each.
#pragma once

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
  double cost = 0;              ///< the sum of the tables; infinite where no choice is allowed
  bool exact = true;            ///< whether no choice costs less for certain
};

} // namespace dfc
