#include "compiler/schedule/list_schedule.h"

#include "compiler/schedule/priorities.h"
#include "compiler/schedule/processor_sharing.h"
#include "ir/base/assert.h"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <tuple>

namespace dfc {
namespace {

constexpr uint32_t unlimited = std::numeric_limits<uint32_t>::max();
// Limit on refusals by the admission policy, for a group at one moment: where thousands of tasks wait for
// memory, asking for all of them at each event would take quadratic time.
constexpr uint32_t mostRefused = 64;
// How many tasks that arrive soon a queue looks at before it starts another.
constexpr uint32_t mostAwaited = 8;

class ListScheduler {
 public:
  ListScheduler(const ListProblem& problem, const std::vector<double>& priority, AdmissionPolicy* policy,
                IdleQueues idle = IdleQueues::TakeAny)
      : policy_(policy), waits_(idle == IdleQueues::MayWait), problem_(problem), after_(problem),
        order_(orderOf(problem, priority, policy == nullptr)), place_(problem.tasks.size()),
        missing_(problem.tasks.size()), ready_(problem.groupQueues.size()), late_(problem.groupQueues.size()),
        notLate_(problem.groupQueues.size()), freeQueues_(problem.groupQueues.size()),
        open_(problem.groupQueues.size()), clock_(problem.tasks.size() + problem.groupQueues.size(),
                                                  problem.groupQueues.size() + problem.memories) {
    result_.start.resize(problem.tasks.size());
    result_.end.resize(problem.tasks.size());
    result_.queue.resize(problem.tasks.size());
    for (size_t group = 0; group < problem.groupQueues.size(); ++group) {
      for (uint32_t queue = 0; queue < problem.groupQueues[group]; ++queue) {
        freeQueues_[group].insert(queue);
      }
    }
    for (const uint32_t slots : problem.linkSlots) {
      freeSlots_.push_back(slots == 0 ? unlimited : slots);
    }
    linkWaiters_.resize(problem.linkSlots.size());
    if (waits_) {
      prepareToWait();
    }
    for (uint32_t place = 0; place < order_.size(); ++place) {
      place_[order_[place]] = place;
      const ListTask& task = problem.tasks[order_[place]];
      notLate_[task.group] += isLate(task) ? 0 : 1;
    }
  }

  std::optional<ListResult> run() {
    openGroups();
    for (uint32_t task = 0; task < problem_.tasks.size(); ++task) {
      missing_[task] = static_cast<uint32_t>(problem_.tasks[task].before.size());
      if (missing_[task] == 0) {
        makeReady(task);
      }
    }
    startReady(0);
    while (!clock_.idle()) {
      const double now = clock_.next();
      while (!clock_.idle() && clock_.next() == now) {
        end(clock_.end(), now);
      }
      startReady(now);
    }
    if (policy_ != nullptr && result_.order.size() < problem_.tasks.size()) {
      return std::nullopt;
    }
    DFC_ASSERT(result_.order.size() == problem_.tasks.size(), "every task was scheduled");
    return std::move(result_);
  }

 private:
  // A group that begins later is opened by an artificial task that ends at that time. Its number follows the
  // numbers of the problem's tasks.
  void openGroups() {
    for (uint32_t group = 0; group < problem_.groupQueues.size(); ++group) {
      open_[group] = problem_.beginOf(group) <= 0;
      if (!open_[group]) {
        clock_.start(static_cast<uint32_t>(problem_.tasks.size()) + group, 0, problem_.beginOf(group), {});
      }
    }
  }

  void prepareToWait() {
    coming_.resize(problem_.groupQueues.size());
    arrival_.resize(problem_.tasks.size(), 0);
    notStarted_.resize(problem_.tasks.size());
    copies_.resize(problem_.groupQueues.size(), false);
    for (uint32_t task = 0; task < problem_.tasks.size(); ++task) {
      notStarted_[task] = static_cast<uint32_t>(problem_.tasks[task].before.size());
      if (!problem_.tasks[task].links.empty()) {
        copies_[problem_.tasks[task].group] = true;
      }
    }
  }

  // Arrival of a task: the latest end of its predecessors, known once the last of them has started.
  void noteStart(uint32_t task, double now) {
    for (const uint32_t next : after_[task]) {
      arrival_[next] = std::max(arrival_[next], now + problem_.tasks[task].seconds);
      if (--notStarted_[next] == 0) {
        coming_[problem_.tasks[next].group].insert(place_[next]);
      }
    }
  }

  // Whether the group's last free queue is better left idle: a task of higher priority arrives during `task`,
  // and would lose more time by waiting for its end than the queue loses by waiting for the arrival.
  bool keepsFree(uint32_t group, uint32_t task, double now) const {
    if (!waits_ || freeQueues_[group].size() > 1) {
      return false;
    }
    const double end = now + problem_.tasks[task].seconds;
    uint32_t looked = 0;
    for (const uint32_t place : coming_[group]) {
      if (place > place_[task] || ++looked > mostAwaited) {
        return false;
      }
      const double arrival = arrival_[order_[place]];
      if (end - arrival > std::max(arrival - now, 0.0)) {
        return true;
      }
    }
    return false;
  }

  void makeReady(uint32_t task) {
    const uint32_t group = problem_.tasks[task].group;
    if (waits_) {
      coming_[group].erase(place_[task]);
    }
    const bool waits = isLate(problem_.tasks[task]) && notLate_[group] > 0;
    (waits ? late_ : ready_)[group].insert(place_[task]);
    touched_.insert(group);
  }

  bool isLate(const ListTask& task) const { return task.late && policy_ == nullptr; }

  // All tasks in the order of priority.
  static std::vector<uint32_t> orderOf(const ListProblem& problem, const std::vector<double>& priority,
                                       bool earlyFirst) {
    const std::vector<double> rank = upwardRanks(problem);
    std::vector<uint32_t> order(problem.tasks.size());
    std::iota(order.begin(), order.end(), 0U);
    const auto key = [&](uint32_t task) {
      const ListTask& row = problem.tasks[task];
      return std::tuple(!(earlyFirst && row.early), -priority[task], -rank[task], row.netAllocation, task);
    };
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
    return order;
  }

  // Starting a task of no duration makes others ready at the same moment, hence the loop.
  void startReady(double now) {
    while (!touched_.empty()) {
      auto next = touched_.begin();
      if (waits_) { // copies first: their ends are what computations wait for
        const auto copying = llvm::find_if(touched_, [&](uint32_t group) { return copies_[group]; });
        next = copying != touched_.end() ? copying : next;
      }
      const uint32_t group = *next;
      touched_.erase(next);
      startGroup(group, now);
    }
  }

  void startGroup(uint32_t group, double now) {
    if (!open_[group]) {
      return;
    }
    auto& ready = ready_[group];
    uint32_t refused = 0;
    for (auto next = ready.begin();
         next != ready.end() && !freeQueues_[group].empty() && refused < mostRefused;) {
      const uint32_t task = order_[*next];
      if (keepsFree(group, task, now) || !linksFree(task, group)) {
        ++next;
      } else if (!admitted(task, group)) {
        ++next;
        ++refused;
      } else {
        next = ready.erase(next);
        start(task, now);
      }
    }
    if (refused == mostRefused) {
      startNextOfPolicy(group, now);
    }
  }

  void startNextOfPolicy(uint32_t group, double now) {
    const uint32_t task = policy_->next();
    if (task != noTask && !freeQueues_[group].empty() && ready_[group].count(place_[task]) != 0 &&
        linksFree(task, group) && admitted(task, group)) {
      ready_[group].erase(place_[task]);
      start(task, now);
    }
  }

  bool admitted(uint32_t task, uint32_t group) {
    if (policy_ == nullptr || policy_->start(task)) {
      return true;
    }
    policyWaiters_.insert(group);
    return false;
  }

  void askPolicyAgain() {
    touched_.insert(policyWaiters_.begin(), policyWaiters_.end());
    policyWaiters_.clear();
  }

  bool linksFree(uint32_t task, uint32_t group) {
    for (const uint32_t link : problem_.tasks[task].links) {
      if (freeSlots_[link] == 0) {
        linkWaiters_[link].insert(group);
        return false;
      }
    }
    return true;
  }

  void start(uint32_t task, double now) {
    const ListTask& row = problem_.tasks[task];
    result_.queue[task] = takeQueue(task);
    for (const uint32_t link : row.links) {
      freeSlots_[link] -= freeSlots_[link] == unlimited ? 0 : 1;
    }
    result_.start[task] = now;
    result_.order.push_back(task);
    if (!isLate(row) && --notLate_[row.group] == 0) {
      ready_[row.group].merge(late_[row.group]);
      touched_.insert(row.group);
    }
    const auto memory = static_cast<uint32_t>(problem_.groupQueues.size()) + row.memory;
    clock_.start(task, now, row.seconds, {row.group, row.utilisation}, {memory, row.traffic});
    if (waits_) {
      noteStart(task, now);
    }
    askPolicyAgain();
  }

  // A free queue that ran a predecessor is preferred, because queue order then replaces a wait; else the
  // first free queue.
  uint32_t takeQueue(uint32_t task) {
    auto& queues = freeQueues_[problem_.tasks[task].group];
    uint32_t queue = *queues.begin();
    for (const uint32_t before : problem_.tasks[task].before) {
      if (problem_.tasks[before].group == problem_.tasks[task].group &&
          queues.count(result_.queue[before]) != 0) {
        queue = result_.queue[before];
      }
    }
    queues.erase(queue);
    return queue;
  }

  void end(uint32_t task, double now) {
    if (task >= problem_.tasks.size()) {
      const auto group = static_cast<uint32_t>(task - problem_.tasks.size());
      open_[group] = true;
      touched_.insert(group);
      return;
    }
    result_.end[task] = now;
    result_.makespan = now;
    const ListTask& row = problem_.tasks[task];
    freeQueues_[row.group].insert(result_.queue[task]);
    touched_.insert(row.group);
    for (const uint32_t link : row.links) {
      freeSlots_[link] += freeSlots_[link] == unlimited ? 0 : 1;
      touched_.insert(linkWaiters_[link].begin(), linkWaiters_[link].end());
      linkWaiters_[link].clear();
    }
    if (policy_ != nullptr) {
      policy_->end(task);
      askPolicyAgain();
    }
    for (const uint32_t next : after_[task]) {
      if (--missing_[next] == 0) {
        makeReady(next);
      }
    }
  }

  AdmissionPolicy* policy_;
  bool waits_;
  const ListProblem& problem_;
  Successors after_;
  std::vector<uint32_t> order_, place_; // tasks by priority, and the index of each task there
  std::vector<uint32_t> missing_;
  std::vector<std::set<uint32_t>> ready_;       // by group: places
  std::vector<std::set<uint32_t>> late_;        // by group: places of ready tasks that are late
  std::vector<uint32_t> notLate_;               // by group: tasks to start that are not late
  std::vector<std::set<uint32_t>> freeQueues_;  // by group
  std::vector<uint32_t> freeSlots_;             // by link
  std::vector<std::set<uint32_t>> linkWaiters_; // groups with a ready task that waits for the link
  std::set<uint32_t> policyWaiters_;            // groups with a ready task that the policy refused
  std::set<uint32_t> touched_;                  // groups to look at now
  std::vector<bool> open_;                      // by group: whether it may start tasks yet
  ProcessorSharing clock_;
  ListResult result_;
  // For queues that may wait:
  std::vector<std::set<uint32_t>> coming_; // by group: places of tasks whose predecessors have all started
  std::vector<double> arrival_;            // by task: the latest end of a started predecessor
  std::vector<uint32_t> notStarted_;       // by task: its predecessors that have not
  std::vector<bool> copies_;               // by group: whether its tasks hold links
};

} // namespace

// Counting sort by predecessor: counts first, then each row is filled from its end.
Successors::Successors(const ListProblem& problem) : first_(problem.tasks.size() + 1) {
  for (uint32_t task = 0; task < problem.tasks.size(); ++task) {
    for (const uint32_t before : problem.tasks[task].before) {
      DFC_ASSERT(before < task, "task order is topological");
      ++first_[before];
    }
  }
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  tasks_.resize(first_.back());
  for (size_t task = problem.tasks.size(); task-- > 0;) {
    for (const uint32_t before : problem.tasks[task].before) {
      tasks_[--first_[before]] = static_cast<uint32_t>(task);
    }
  }
}

ListResult listSchedule(const ListProblem& problem, const std::vector<double>& priority, IdleQueues idle) {
  return *ListScheduler(problem, priority, nullptr, idle).run();
}

std::optional<ListResult> listSchedule(const ListProblem& problem, const std::vector<double>& priority,
                                       AdmissionPolicy& policy) {
  return ListScheduler(problem, priority, &policy).run();
}

ListResult listSchedule(const ListProblem& problem) { return listSchedule(problem, upwardRanks(problem)); }

} // namespace dfc
