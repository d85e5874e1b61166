// Upward ranks: the longest way from the start of each task to the end of the computation, in seconds.
// Source: HEFT (Topcuoglu et al. 2002), here with the durations of the placement.
#include "compiler/schedule/priorities.h"

#include <algorithm>

namespace dfc {

std::vector<double> upwardRanks(const ListProblem& problem) {
  std::vector<double> rank(problem.tasks.size());
  for (size_t i = problem.tasks.size(); i-- > 0;) {
    rank[i] += problem.tasks[i].seconds; // so far: the longest among its successors
    for (const uint32_t before : problem.tasks[i].before) {
      rank[before] = std::max(rank[before], rank[i]);
    }
  }
  return rank;
}

} // namespace dfc
