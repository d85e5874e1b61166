#include "compiler/memory/low_peak_order.h"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

namespace dfc {
namespace {

/// Of the largest buffer, the part up to which others are small.
constexpr int64_t smallPart = 1024;

class LowPeakOrderer {
 public:
  LowPeakOrderer(const ListProblem& problem, const MemoryRequirements& requirements,
                 const std::vector<uint32_t>& rank, size_t deviceCount, Sources sources)
      : problem_(problem), requirements_(requirements), rank_(rank),
        sourcesWait_(sources == Sources::WhenNeeded), after_(problem),
        pendingPredecessors_(problem.tasks.size()), pendingSources_(problem.tasks.size()),
        isReady_(problem.tasks.size()), wasReady_(problem.tasks.size()), key_(problem.tasks.size()),
        batch_(problem.tasks.size()), usersLeft_(requirements.buffers.size()),
        aliasOf_(requirements.buffers.size()), overwritten_(requirements.buffers.size()),
        liveBytes_(deviceCount) {
    result_.peak = SideTable<DeviceId, int64_t>(deviceCount);
    findBatches();
    for (const BufferRow& row : requirements.buffers) {
      small_ = std::max(small_, sourcesWait_ ? row.bytes / smallPart : 0);
    }
  }

  LowPeakOrder run() {
    for (const BufferId buffer : requirements_.buffers.ids()) {
      usersLeft_[buffer] = static_cast<uint32_t>(requirements_.buffers[buffer].users.size());
      aliasOf_[buffer] = buffer;
    }
    for (uint32_t task = 0; task < problem_.tasks.size(); ++task) {
      pendingPredecessors_[task] = static_cast<uint32_t>(problem_.tasks[task].before.size());
      pendingSources_[task] = static_cast<uint32_t>(llvm::count_if(
          problem_.tasks[task].before, [&](uint32_t before) { return waitsForReader(before); }));
    }
    for (uint32_t task = 0; task < problem_.tasks.size(); ++task) {
      noteProgress(task);
    }
    while (!ready_.empty()) {
      const uint32_t task = std::get<3>(*ready_.begin());
      ready_.erase(ready_.begin());
      isReady_[task] = false;
      execute(task);
    }
    DFC_ASSERT(result_.order.size() == problem_.tasks.size(), "every task has its turn");
    joinBuffers();
    return std::move(result_);
  }

 private:
  // Micro-batches come one after the other: each holds what its backward pass reads. Within one, the task
  // that frees most goes first. Tasks that only allocate do not go by size.
  using Key = std::tuple<uint32_t, int64_t, uint32_t, uint32_t>;
  Key keyOf(uint32_t task) const {
    const int64_t netAllocation = netAllocationOf(task);
    const int64_t allocating = waitsForReader(task) ? 1 : 2;
    const int64_t freed = std::min<int64_t>(netAllocation, 0);
    return {batch_[task], netAllocation <= small_ ? freed : allocating, rank_[task], task};
  }

  // Whether it becomes ready when a task needs it.
  bool waitsForReader(uint32_t task) const {
    return sourcesWait_ && problem_.tasks[task].before.empty() && !after_[task].empty();
  }

  // Makes a task ready that waits for none, or the sources that alone are left to wait for.
  void noteProgress(uint32_t task) {
    if (waitsForReader(task) || pendingPredecessors_[task] > pendingSources_[task]) {
      return;
    }
    if (pendingPredecessors_[task] == 0) {
      becomeReady(task);
      return;
    }
    for (const uint32_t before : problem_.tasks[task].before) {
      if (waitsForReader(before)) {
        becomeReady(before);
      }
    }
  }

  void becomeReady(uint32_t task) {
    if (!wasReady_[task]) {
      wasReady_[task] = true;
      makeReady(task);
    }
  }

  // The micro-batch of a task; of a task of none, the first that needs it. The update comes behind all.
  void findBatches() {
    for (auto task = static_cast<uint32_t>(batch_.size()); task-- > 0;) {
      batch_[task] = problem_.tasks[task].microBatch;
      if (batch_[task] == noMicroBatch) {
        for (const uint32_t next : after_[task]) {
          batch_[task] = std::min(batch_[task], batch_[next]);
        }
      }
    }
  }

  int64_t netAllocationOf(uint32_t task) const {
    const TaskBuffers& row = requirements_.tasks[task];
    int64_t netAllocation = 0;
    for (const BufferId buffer : row.allocates) {
      netAllocation += requirements_.buffers[buffer].bytes;
    }
    for (const BufferId buffer : row.uses) {
      netAllocation -= usersLeft_[buffer] == 1 && !requirements_.buffers[buffer].liveOut
                           ? requirements_.buffers[buffer].bytes
                           : 0;
    }
    return netAllocation;
  }

  void makeReady(uint32_t task) {
    key_[task] = keyOf(task);
    isReady_[task] = true;
    ready_.insert(key_[task]);
  }

  void execute(uint32_t task) {
    result_.order.push_back(task);
    takeMemory(task);
    for (const BufferId buffer : requirements_.tasks[task].uses) {
      if (--usersLeft_[buffer] == 0) {
        release(buffer);
      } else if (usersLeft_[buffer] == 1) {
        noteLastUser(buffer);
      }
    }
    const bool isSource = waitsForReader(task);
    for (const uint32_t next : after_[task]) {
      --pendingPredecessors_[next];
      pendingSources_[next] -= isSource ? 1 : 0;
      noteProgress(next);
    }
  }

  void takeMemory(uint32_t task) {
    if (overwrites(task)) {
      return;
    }
    for (const BufferId buffer : requirements_.tasks[task].allocates) {
      const BufferRow& row = requirements_.buffers[buffer];
      liveBytes_[row.device] += row.bytes;
      result_.peak[row.device] = std::max(result_.peak[row.device], liveBytes_[row.device]);
    }
  }

  bool overwrites(uint32_t task) {
    for (const BufferId operand : requirements_.tasks[task].inPlaceCandidates) {
      if (usersLeft_[operand] != 1 || requirements_.buffers[operand].liveOut) {
        continue;
      }
      aliasOf_[requirements_.tasks[task].allocates.front()] = aliasOf_[operand];
      overwritten_[operand] = true;
      for (const uint32_t user : requirements_.buffers[operand].users) {
        if (user != task) {
          result_.orderings.push_back({user, task});
        }
      }
      return true;
    }
    return false;
  }

  void release(BufferId buffer) {
    const BufferRow& row = requirements_.buffers[buffer];
    liveBytes_[row.device] -= overwritten_[buffer] || row.liveOut ? 0 : row.bytes;
  }

  void noteLastUser(BufferId buffer) {
    for (const uint32_t user : requirements_.buffers[buffer].users) {
      if (isReady_[user]) {
        ready_.erase(key_[user]);
        makeReady(user);
      }
    }
  }

  void joinBuffers() {
    MemoryRequirements joined;
    SideTable<BufferId, BufferId> made(requirements_.buffers.size());
    for (const uint32_t task :
         result_.order) { // an operand's buffer is made before that of the result that overwrites it
      for (const BufferId buffer : requirements_.tasks[task].allocates) {
        BufferId& own = made[buffer];
        own = aliasOf_[buffer] == buffer ? joined.buffers.add({}) : made[aliasOf_[buffer]];
        const BufferRow& row = requirements_.buffers[buffer];
        BufferRow& all = joined.buffers[own];
        all.device = row.device;
        all.bytes = std::max(all.bytes, row.bytes);
        all.liveOut |= row.liveOut;
        all.users.append(row.users.begin(), row.users.end());
      }
    }
    sortUsers(joined);
    renameTasks(made, joined);
    result_.requirements = std::move(joined);
  }

  void sortUsers(MemoryRequirements& joined) const {
    std::vector<uint32_t> turn(result_.order.size());
    for (uint32_t i = 0; i < turn.size(); ++i) {
      turn[result_.order[i]] = i;
    }
    for (const BufferId buffer : joined.buffers.ids()) {
      auto& users = joined.buffers[buffer].users;
      llvm::sort(users, [&](uint32_t a, uint32_t b) { return turn[a] < turn[b]; });
      users.erase(std::unique(users.begin(), users.end()), users.end());
    }
  }

  void renameTasks(const SideTable<BufferId, BufferId>& made, MemoryRequirements& joined) const {
    joined.tasks.resize(requirements_.tasks.size());
    for (size_t task = 0; task < requirements_.tasks.size(); ++task) {
      for (const BufferId buffer : requirements_.tasks[task].allocates) {
        if (aliasOf_[buffer] == buffer) {
          joined.tasks[task].allocates.push_back(made[buffer]);
        }
      }
      for (const BufferId buffer : requirements_.tasks[task].uses) {
        if (!llvm::is_contained(joined.tasks[task].uses, made[buffer])) {
          joined.tasks[task].uses.push_back(made[buffer]);
        }
      }
    }
    joined.of = requirements_.of;
    for (const ValueId value : joined.of.ids()) {
      joined.of[value] = joined.of[value].valid() ? made[joined.of[value]] : BufferId();
    }
  }

  const ListProblem& problem_;
  const MemoryRequirements& requirements_;
  const std::vector<uint32_t>& rank_;
  const bool sourcesWait_;
  int64_t small_ = 0; // bytes
  Successors after_;
  std::vector<uint32_t> pendingPredecessors_;
  std::vector<uint32_t> pendingSources_; // of these, those that wait for their readers
  std::vector<char> isReady_, wasReady_;
  std::vector<Key> key_; // of ready tasks
  std::vector<uint32_t> batch_;
  std::set<Key> ready_;
  SideTable<BufferId, uint32_t> usersLeft_;
  SideTable<BufferId, BufferId> aliasOf_; // the buffer that it overwrites; itself for none
  SideTable<BufferId, char> overwritten_;
  SideTable<DeviceId, int64_t> liveBytes_;
  LowPeakOrder result_;
};

} // namespace

std::vector<uint32_t> ranksByNeed(const ListProblem& problem) {
  const auto count = static_cast<uint32_t>(problem.tasks.size());
  std::vector<uint32_t> neededBy(count), order(count), ranks(count);
  std::iota(order.begin(), order.end(), 0U);
  const Successors after(problem);
  for (uint32_t task = count; task-- > 0;) { // successors have larger numbers
    neededBy[task] = after[task].empty() ? task : count;
    for (const uint32_t next : after[task]) {
      neededBy[task] = std::min(neededBy[task], neededBy[next]);
    }
  }
  llvm::stable_sort(order, [&](uint32_t a, uint32_t b) { return neededBy[a] < neededBy[b]; });
  for (uint32_t i = 0; i < count; ++i) {
    ranks[order[i]] = i;
  }
  return ranks;
}

LowPeakOrder lowPeakOrder(const ListProblem& problem, const MemoryRequirements& requirements,
                          const std::vector<uint32_t>& rank, size_t deviceCount, Sources sources) {
  return LowPeakOrderer(problem, requirements, rank, deviceCount, sources).run();
}

} // namespace dfc
