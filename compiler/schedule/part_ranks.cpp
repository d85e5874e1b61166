// Part ranks: the highest upward rank among the tasks of the same part of the batch, and lower from part to
// part. By upward ranks alone an op of every part comes before the next op of any, so that all parts reach
// the next stage of a pipeline at the end; with the earliest part first, forward and backward parts alternate
// once the pipeline is full (Narayanan et al. 2019, "PipeDream": 1F1B).
#include "compiler/schedule/priorities.h"

#include <algorithm>
#include <limits>

namespace dfc {

std::vector<double> partRanks(const ListProblem& problem) {
  std::vector<double> ranks = upwardRanks(problem);
  constexpr double none = -1;  // of a part that there is not
  std::vector<double> highest; // by part
  for (size_t task = 0; task < ranks.size(); ++task) {
    const uint32_t part = problem.tasks[task].part;
    if (part != noTask) {
      highest.resize(std::max<size_t>(highest.size(), part + 1), none);
      highest[part] = std::max(highest[part], ranks[task]);
    }
  }
  if (highest.empty()) {
    return {};
  }
  constexpr double lower = 1 - 1e-9;
  double before = std::numeric_limits<double>::infinity(); // of the last part that there is
  for (double& one : highest) {
    one = std::min(one, before);
    before = one == none ? before : lower * one;
  }
  for (size_t task = 0; task < ranks.size(); ++task) {
    const uint32_t part = problem.tasks[task].part;
    ranks[task] = part == noTask ? ranks[task] : highest[part];
  }
  return ranks;
}

} // namespace dfc
