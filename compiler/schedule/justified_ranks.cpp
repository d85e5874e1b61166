// Justified ranks: for each task the seconds from its start to the end of the computation in a list schedule
// of the reversed problem. Unlike upward ranks they see contention: of many transfers over one link at the
// end, all but the last are long before the end, and so are the tasks that they wait for. Source:
// forward-backward scheduling (Li and Willis 1992, "An iterative scheduling technique for
// resource-constrained project scheduling").
#include "compiler/schedule/priorities.h"

namespace dfc {
namespace {

ListProblem reversed(const ListProblem& problem) {
  const auto count = static_cast<uint32_t>(problem.tasks.size());
  const Successors after(problem);
  ListProblem back{{}, problem.groupQueues, problem.linkSlots, {}, problem.memories};
  back.tasks.reserve(count);
  for (uint32_t i = count; i-- > 0;) {
    const ListTask& task = problem.tasks[i];
    back.tasks.push_back({task.seconds,
                          task.group,
                          task.links,
                          {},
                          task.scope,
                          0,
                          task.utilisation,
                          task.traffic,
                          task.memory});
    for (const uint32_t next : after[i]) {
      back.tasks.back().before.push_back(count - 1 - next);
    }
  }
  return back;
}

} // namespace

std::vector<double> justifiedRanks(const ListProblem& problem) {
  const ListResult back = listSchedule(reversed(problem));
  return {back.end.rbegin(), back.end.rend()};
}

std::vector<double> justifiedRanks(const ListProblem& problem, llvm::ArrayRef<double> ends) {
  const ListResult back = listSchedule(reversed(problem), {ends.rbegin(), ends.rend()});
  return {back.end.rbegin(), back.end.rend()};
}

} // namespace dfc
