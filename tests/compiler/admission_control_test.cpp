// Admission control under list scheduling: the next task of the safe sequence is asked for behind any number
// of refused tasks, and memory is reused only after the last user of each queue.
#include "compiler/memory/admission_control.h"
#include "compiler/memory/reuse_orderings.h"
#include "tests/support/catch.h"

#include <llvm/ADT/STLExtras.h>

namespace dfc::test {
namespace {

/// Admits tasks in the order of falling numbers, one after the other.
class FromLastToFirst : public AdmissionPolicy {
 public:
  explicit FromLastToFirst(uint32_t tasks) : next_(tasks) {}
  bool start(uint32_t task) override {
    const bool admitted = task + 1 == next_;
    next_ -= admitted ? 1 : 0;
    return admitted;
  }
  void end(uint32_t) override {}
  uint32_t next() const override { return next_ > 0 ? next_ - 1 : noTask; }

 private:
  uint32_t next_;
};

/// The order, one task after the other, without buffers.
LowPeakOrder orderOf(std::vector<uint32_t> order) {
  LowPeakOrder lowPeak;
  lowPeak.requirements.tasks.resize(order.size());
  lowPeak.order = std::move(order);
  return lowPeak;
}

void addBuffer(LowPeakOrder& lowPeak, int64_t bytes, llvm::ArrayRef<uint32_t> users) {
  BufferRow row{DeviceId(0), bytes, false, {}};
  row.users.append(users.begin(), users.end());
  const BufferId buffer = lowPeak.requirements.buffers.add(row);
  lowPeak.requirements.tasks[users.front()].allocates.push_back(buffer);
  for (const uint32_t user : users) {
    lowPeak.requirements.tasks[user].uses.push_back(buffer);
  }
}

std::vector<std::pair<uint32_t, uint32_t>> sorted(const std::vector<TaskOrdering>& orderings) {
  std::vector<std::pair<uint32_t, uint32_t>> pairs;
  for (const TaskOrdering& ordering : orderings) {
    pairs.emplace_back(ordering.before, ordering.after);
  }
  llvm::sort(pairs);
  return pairs;
}

} // namespace

TEST_CASE("list scheduling asks for the policy's next task behind any number of refused ones") {
  constexpr uint32_t tasks = 200; // all ready at once; the admitted one has the lowest priority
  ListProblem problem;
  problem.groupQueues = {1};
  problem.tasks.resize(tasks);
  std::vector<double> priority(tasks);
  for (uint32_t task = 0; task < tasks; ++task) {
    problem.tasks[task].seconds = 1;
    priority[task] = -static_cast<double>(task);
  }
  FromLastToFirst policy(tasks);
  const auto result = listSchedule(problem, priority, policy);
  REQUIRE(result.has_value());
  CHECK(result->makespan == tasks);
  CHECK(result->order.front() == tasks - 1);
  CHECK(result->order.back() == 0);
}

TEST_CASE("admission control: while memory is short, the task whose turn it is goes first") {
  // Copy i makes a buffer, product n + i reads it; there is memory for one buffer. Copies have falling
  // priorities from the last to the first, against the safe sequence, which begins with the first.
  constexpr uint32_t pairs = 100;
  ListProblem problem;
  problem.groupQueues = {1, 1};
  problem.tasks.resize(size_t{2} * pairs);
  std::vector<uint32_t> turns;
  std::vector<double> priority(problem.tasks.size());
  for (uint32_t i = 0; i < pairs; ++i) {
    problem.tasks[i].seconds = 1;
    problem.tasks[pairs + i] = {2, 1, {}, {i}};
    priority[i] = i;
    turns.insert(turns.end(), {i, pairs + i});
  }
  LowPeakOrder lowPeak = orderOf(turns);
  for (uint32_t i = 0; i < pairs; ++i) {
    addBuffer(lowPeak, 256, {i, pairs + i});
  }
  const SideTable<DeviceId, int64_t> available(1, 256);
  AdmissionControl admission(lowPeak, available, FitRule::LeastRecentlyFreed);
  const auto result = listSchedule(problem, priority, admission);
  REQUIRE(result.has_value());
  CHECK(result->order == turns);
  CHECK(result->makespan == pairs * (1 + 2)); // copy and product take turns
}

TEST_CASE("admission control: a fetched buffer keeps its memory after its last user") {
  ListProblem problem;
  problem.groupQueues = {1};
  problem.tasks.resize(2);
  problem.tasks[0].seconds = problem.tasks[1].seconds = 1;
  problem.tasks[1].before = {0};
  LowPeakOrder lowPeak = orderOf({0, 1});
  addBuffer(lowPeak, 256, {0});
  addBuffer(lowPeak, 256, {1});
  lowPeak.requirements.buffers[BufferId(0)].liveOut = true;
  const SideTable<DeviceId, int64_t> available(1, 512);
  AdmissionControl admission(lowPeak, available, FitRule::LowestAddress);
  REQUIRE(listSchedule(problem, {0, 0}, admission).has_value());
  CHECK(admission.offsets()[BufferId(0)] == 0);
  CHECK(admission.offsets()[BufferId(1)] == 256);
  CHECK(admission.reuses().empty());
}

TEST_CASE("reused memory waits for the last user on each queue, and for no other") {
  // Queue 0 of group 0 runs task 0; its queue 1 runs 2, then 1; group 1 runs 3. All use one buffer, whose
  // bytes task 4 takes.
  ListProblem problem;
  problem.groupQueues = {2, 1};
  problem.tasks.resize(5);
  problem.tasks[3].group = 1;
  ListResult times;
  times.queue = {0, 1, 1, 0, 0};
  times.order = {0, 2, 1, 3, 4};
  LowPeakOrder lowPeak = orderOf({0, 1, 2, 3, 4});
  addBuffer(lowPeak, 256, {0, 1, 2, 3});
  addBuffer(lowPeak, 256, {4});
  CHECK(sorted(reuseOrderings({{BufferId(0), 4}}, lowPeak, problem, times)) ==
        std::vector<std::pair<uint32_t, uint32_t>>{{0, 4}, {1, 4}, {3, 4}});
  lowPeak.orderings = {{1, 3}}; // what makes overwriting operands safe is kept
  CHECK(sorted(reuseOrderings({}, lowPeak, problem, times)) ==
        std::vector<std::pair<uint32_t, uint32_t>>{{1, 3}});
}

TEST_CASE("admission control: a task that was refused leaves nothing behind") {
  // Memory for three units. Task 0 makes b (1 unit), which 4 reads; 1 makes p (2), which 2 reads; 4 makes c
  // (2), 5 makes e (1), and 6 reads both. In their turns 1 and 2 hold b and p, 4 holds b and c, 5 and 6 hold
  // c and e: three units each.
  constexpr int64_t unit = 256;
  LowPeakOrder lowPeak = orderOf({0, 1, 2, 3, 4, 5, 6});
  addBuffer(lowPeak, unit, {0, 4});
  addBuffer(lowPeak, 2 * unit, {1, 2});
  addBuffer(lowPeak, 2 * unit, {4, 6});
  addBuffer(lowPeak, unit, {5, 6});
  const SideTable<DeviceId, int64_t> available(1, 3 * unit);
  AdmissionControl admission(lowPeak, available, FitRule::LowestAddress);
  const auto run = [&](uint32_t task) {
    const bool started = admission.start(task);
    if (started) {
      admission.end(task);
    }
    return started;
  };
  CHECK(run(0));
  CHECK_FALSE(run(4)); // p and c would take four
  CHECK(run(1));
  CHECK(run(2));
  CHECK(run(4)); // ahead of 3: p is free
  CHECK(run(5)); // so is b, since its last reader has ended
}

} // namespace dfc::test
