// Micro-batch ranks: the highest upward rank among the tasks of the same micro-batch, lowered so that ranks
// fall from each micro-batch to the next. By upward ranks alone, op k of every micro-batch comes before op k
// + 1 of any, and a pipeline stage passes on all micro-batches at its very end. With the earliest micro-batch
// first, forward and backward passes alternate once the pipeline is full (1F1B: Narayanan et al. 2019,
// "PipeDream").
#include "compiler/schedule/priorities.h"

#include <algorithm>
#include <limits>

namespace dfc {

std::vector<double> microBatchRanks(const ListProblem& problem) {
  std::vector<double> ranks = upwardRanks(problem);
  constexpr double unused = -1; // of a number that no task has
  std::vector<double> highest;  // by micro-batch
  for (size_t task = 0; task < ranks.size(); ++task) {
    const uint32_t number = problem.tasks[task].microBatch;
    if (number != noMicroBatch) {
      highest.resize(std::max<size_t>(highest.size(), number + 1), unused);
      highest[number] = std::max(highest[number], ranks[task]);
    }
  }
  if (highest.empty()) {
    return {};
  }
  constexpr double lower = 1 - 1e-9;
  double before = std::numeric_limits<double>::infinity(); // rank of the previous micro-batch
  for (double& rank : highest) {
    rank = std::min(rank, before);
    before = rank == unused ? before : lower * rank;
  }
  for (size_t task = 0; task < ranks.size(); ++task) {
    const uint32_t number = problem.tasks[task].microBatch;
    ranks[task] = number == noMicroBatch ? ranks[task] : highest[number];
  }
  return ranks;
}

} // namespace dfc
