#include "compiler/memory/reuse_orderings.h"

#include <map>

namespace dfc {
namespace {

std::vector<uint32_t> placesInOrder(const ListResult& times) {
  std::vector<uint32_t> places(times.order.size());
  for (uint32_t i = 0; i < places.size(); ++i) {
    places[times.order[i]] = i;
  }
  return places;
}

using Users = llvm::SmallVector<uint32_t, 2>;

Users lastOnQueues(llvm::ArrayRef<uint32_t> users, const std::vector<uint32_t>& places,
                   const ListProblem& problem, const ListResult& times) {
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> last; // by group and queue
  for (const uint32_t user : users) {
    const auto [entry, added] = last.try_emplace({problem.tasks[user].group, times.queue[user]}, user);
    if (!added && places[entry->second] < places[user]) {
      entry->second = user;
    }
  }
  Users result;
  for (const auto& [queue, user] : last) {
    result.push_back(user);
  }
  return result;
}

} // namespace

std::vector<TaskOrdering> reuseOrderings(llvm::ArrayRef<Reuse> reuses, const LowPeakOrder& lowPeak,
                                         const ListProblem& problem, const ListResult& times) {
  const std::vector<uint32_t> places = placesInOrder(times);
  std::vector<TaskOrdering> orderings = lowPeak.orderings;
  SideTable<BufferId, Users> lastUsers(lowPeak.requirements.buffers.size());
  for (const Reuse& reuse : reuses) {
    Users& last = lastUsers[reuse.before];
    if (last.empty()) {
      last = lastOnQueues(lowPeak.requirements.buffers[reuse.before].users, places, problem, times);
    }
    for (const uint32_t user : last) {
      orderings.push_back({user, reuse.after});
    }
  }
  return orderings;
}

} // namespace dfc
