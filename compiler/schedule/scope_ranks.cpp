// Scope ranks: the highest upward rank among the tasks of the same group and scope. The tasks of a scope stay
// together, so that the scope's consumers can start, and its operands die, sooner.
#include "compiler/schedule/priorities.h"

#include <algorithm>
#include <map>

namespace dfc {

std::vector<double> scopeRanks(const ListProblem& problem) {
  std::vector<double> ranks = upwardRanks(problem);
  std::map<std::pair<uint32_t, uint32_t>, double> highest;
  auto known = highest.end(); // of the task before: neighbours share their scope
  const auto highestOf = [&](const ListTask& task) -> double& {
    const std::pair<uint32_t, uint32_t> scope{task.group, task.scope};
    if (known == highest.end() || known->first != scope) {
      known = highest.try_emplace(scope, 0).first;
    }
    return known->second;
  };
  for (size_t task = 0; task < ranks.size(); ++task) {
    double& rank = highestOf(problem.tasks[task]);
    rank = std::max(rank, ranks[task]);
  }
  for (size_t task = 0; task < ranks.size(); ++task) {
    ranks[task] = highestOf(problem.tasks[task]);
  }
  return ranks;
}

} // namespace dfc
