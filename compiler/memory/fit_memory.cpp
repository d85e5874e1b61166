#include "compiler/memory/fit_memory.h"

#include "compiler/memory/admission_control.h"
#include "compiler/memory/plan_memory.h"
#include "compiler/memory/reuse_orderings.h"
#include "compiler/memory/static_offsets.h"
#include "compiler/memory/timed_offsets.h"
#include "compiler/schedule/lower_bounds.h"
#include "compiler/schedule/priorities.h"
#include "ir/author/text/units.h"

#include <fmt/format.h>
#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <numeric>

namespace dfc {
namespace {

/// How buffers get their offsets. LeastRecentlyFreed, LowestAddress: during the simulated run, by that rule
/// of fit. Against fragmentation by buffers of many sizes: Timed packs them after a run in which admission
/// control counts bytes alone; Static packs them before the run, for the low-peak order.
enum class OffsetStrategy : uint8_t { LeastRecentlyFreed, LowestAddress, Timed, Static };

/// Of the available bytes, the parts that a run which counts bytes may hold: packing loses the rest.
constexpr double countedParts[] = {1, 0.94, 0.87, 0.8};
/// With less than all of it, runs by the fastest priorities are made: of few tasks many, of many tasks two.
constexpr size_t tasksOfRuns = 30'000;
/// A strategy is the last one that is tried where its plan takes at most this multiple of the makespan
/// without a memory limit.
constexpr double hardlySlower = 1.02;

/// A simulated run of all tasks within the available memory.
struct Attempt {
  ListResult times;
  std::vector<TaskOrdering> orderings;
  SideTable<BufferId, int64_t> offsets;
};

class MemoryFitter {
 public:
  MemoryFitter(const PlacedGraph& placed, const Schedule& unconstrained, const Machine& machine,
               const CostModel& cost)
      : placed_(placed), unconstrained_(unconstrained), machine_(machine),
        problem_(scheduleProblem(placed, machine, cost)), available_(machine.devices.size()) {}

  // Another order may exceed a device that had enough memory so far. Then that device counts as over capacity
  // too, and all is tried again.
  Result<FittedPlan> run(Diagnostics capacityErrors) {
    const MemoryPlan unconstrained = packMemory(placed_, unconstrained_, machine_);
    findAvailable(unconstrained);
    std::optional<MemoryPlan> last = unconstrained;
    while (last && noteDevicesOverCapacity(*last)) {
      last.reset();
      const MemoryRequirements requirements = memoryRequirements(placed_, problem_, overCapacity_);
      setNetAllocation(requirements);
      const LowPeakOrder lowPeak = bestLowPeakOrder(requirements);
      lowestPeak_ = lowPeak.peak;
      if (auto fastest = fastestOf(lowPeak, last)) {
        return *std::move(fastest);
      }
    }
    addLowestPeaks(unconstrained, capacityErrors);
    return capacityErrors;
  }

 private:
  /// `last`: of the last plan that does not fit.
  std::optional<FittedPlan> fastestOf(const LowPeakOrder& lowPeak, std::optional<MemoryPlan>& last) const {
    std::optional<FittedPlan> fastest;
    for (const OffsetStrategy strategy : {OffsetStrategy::LeastRecentlyFreed, OffsetStrategy::LowestAddress,
                                          OffsetStrategy::Timed, OffsetStrategy::Static}) {
      if (fastest && (fastest->schedule.makespan <= hardlySlower * unconstrained_.makespan ||
                      strategy == OffsetStrategy::Static)) {
        break;
      }
      for (const Attempt& attempt : attemptsOf(strategy, lowPeak)) {
        if (fastest && attempt.times.makespan >= fastest->schedule.makespan) {
          break;
        }
        FittedPlan plan = planOf(attempt, lowPeak.requirements);
        if (fits(plan.memory)) {
          fastest = std::move(plan);
          break;
        }
        last = std::move(plan.memory);
      }
    }
    return fastest;
  }

  void findAvailable(const MemoryPlan& plan) {
    for (const DeviceId device : machine_.devices.ids()) {
      available_[device] =
          machine_.devices[device].memoryBytes / arenaAlignment * arenaAlignment - plan.residentBytes[device];
    }
  }

  /// There is an error for each device that the unconstrained schedule exceeds, in their order.
  void addLowestPeaks(const MemoryPlan& unconstrained, Diagnostics& capacityErrors) const {
    size_t next = 0;
    for (const DeviceId device : machine_.devices.ids()) {
      if (exceedsCapacity(unconstrained, machine_, device)) {
        DFC_ASSERT(next < capacityErrors.size(), "an error for each device that is too small");
        capacityErrors[next++].message +=
            fmt::format("; where steps wait for one another to free memory, the least that was found is {}",
                        humanBytes(unconstrained.residentBytes[device] + lowestPeak_[device]));
      }
    }
  }

  bool fits(const MemoryPlan& plan) const {
    return llvm::none_of(machine_.devices.ids(),
                         [&](DeviceId device) { return exceedsCapacity(plan, machine_, device); });
  }

  bool noteDevicesOverCapacity(const MemoryPlan& plan) {
    const size_t before = overCapacity_.size();
    for (const DeviceId device : machine_.devices.ids()) {
      if (exceedsCapacity(plan, machine_, device) && !llvm::is_contained(overCapacity_, device)) {
        overCapacity_.push_back(device);
      }
    }
    return overCapacity_.size() > before;
  }

  /// The runs, by several priorities, that came to their end; the fastest first.
  std::vector<Attempt> attemptsOf(OffsetStrategy strategy, const LowPeakOrder& lowPeak) const {
    std::vector<Attempt> attempts;
    if (excessBytes(lowPeak) == 0) {
      switch (strategy) {
      case OffsetStrategy::LeastRecentlyFreed:
        attempts = tryAdmission(lowPeak, FitRule::LeastRecentlyFreed);
        break;
      case OffsetStrategy::LowestAddress: attempts = tryAdmission(lowPeak, FitRule::LowestAddress); break;
      case OffsetStrategy::Timed: attempts = tryTimedOffsets(lowPeak); break;
      case OffsetStrategy::Static: attempts = tryStaticOffsets(lowPeak); break;
      }
    }
    llvm::stable_sort(attempts,
                      [](const Attempt& a, const Attempt& b) { return a.times.makespan < b.times.makespan; });
    return attempts;
  }

  FittedPlan planOf(const Attempt& attempt, const MemoryRequirements& requirements) const {
    PreferredOffsets preferred(requirements.of.size(), -1);
    for (const ValueId value : requirements.of.ids()) {
      if (requirements.of[value].valid()) {
        preferred[value] = attempt.offsets[requirements.of[value]];
      }
    }
    FittedPlan plan;
    plan.schedule = scheduleOf(problem_, attempt.times, lowerBounds(problem_.list), attempt.orderings);
    plan.memory = packMemory(placed_, plan.schedule, machine_, preferred);
    return plan;
  }

  void setNetAllocation(const MemoryRequirements& requirements) {
    for (size_t task = 0; task < requirements.tasks.size(); ++task) {
      int64_t& netAllocation = problem_.list.tasks[task].netAllocation = 0;
      for (const BufferId buffer : requirements.tasks[task].allocates) {
        netAllocation += requirements.buffers[buffer].bytes;
      }
      for (const BufferId buffer : requirements.tasks[task].uses) {
        const BufferRow& row = requirements.buffers[buffer];
        netAllocation -= row.users.back() == task && !row.liveOut ? row.bytes : 0;
      }
    }
  }

  // Ties are broken by the order of the unconstrained schedule, which is good for time, by that of the graph,
  // in which authors often finish one computation before the next, by need, or by the graph with copies of
  // parameters when they are needed. The order with the smallest peak is kept.
  LowPeakOrder bestLowPeakOrder(const MemoryRequirements& requirements) const {
    std::vector<uint32_t> byGraph(problem_.opOf.size());
    std::iota(byGraph.begin(), byGraph.end(), 0U);
    std::vector<uint32_t> byStart;
    byStart.reserve(problem_.opOf.size());
    for (const OpId op : problem_.opOf) {
      byStart.push_back(unconstrained_.stepOf[op].index());
    }
    LowPeakOrder best = lowPeakOrder(problem_.list, requirements, byStart, machine_.devices.size());
    const auto offer = [&](const std::vector<uint32_t>& ranks, Sources sources) {
      LowPeakOrder next = lowPeakOrder(problem_.list, requirements, ranks, machine_.devices.size(), sources);
      if (excessBytes(next) < excessBytes(best)) {
        best = std::move(next);
      }
    };
    offer(byGraph, Sources::AtStart);
    offer(ranksByNeed(problem_.list), Sources::AtStart);
    offer(byGraph, Sources::WhenNeeded);
    return best;
  }

  int64_t excessBytes(const LowPeakOrder& lowPeak) const {
    return std::accumulate(overCapacity_.begin(), overCapacity_.end(), int64_t{0},
                           [&](int64_t sum, DeviceId device) {
                             return sum + std::max<int64_t>(0, lowPeak.peak[device] - available_[device]);
                           });
  }

  // By task: the rows of priorities.def, then the turn in the low-peak order.
  std::vector<std::vector<double>> priorities(const LowPeakOrder& lowPeak) const {
    std::vector<double> byTurn(lowPeak.order.size());
    for (size_t i = 0; i < byTurn.size(); ++i) {
      byTurn[lowPeak.order[i]] = -static_cast<double>(i);
    }
    std::vector<std::vector<double>> priorities;
    for (const PriorityRow& priority : allPriorities()) {
      if (std::vector<double> ranks = priority.ranks(problem_.list); !ranks.empty()) {
        priorities.push_back(std::move(ranks));
      }
    }
    priorities.push_back(std::move(byTurn));
    return priorities;
  }

  std::vector<Attempt> tryAdmission(const LowPeakOrder& lowPeak, FitRule rule) const {
    std::vector<Attempt> attempts;
    for (const auto& priority : priorities(lowPeak)) {
      AdmissionControl admission(lowPeak, available_, rule);
      if (auto times = listSchedule(problem_.list, priority, admission)) {
        auto orderings = reuseOrderings(admission.reuses(), lowPeak, problem_.list, *times);
        attempts.push_back({*std::move(times), std::move(orderings), admission.offsets()});
      }
    }
    return attempts;
  }

  // Tries ever smaller parts of the memory, in each the runs by makespan, and returns the first run whose
  // buffers can be packed. Below the whole memory, only the fastest priorities are run.
  std::vector<Attempt> tryTimedOffsets(const LowPeakOrder& lowPeak) const {
    std::vector<std::vector<double>> ranks = priorities(lowPeak);
    for (const double part : countedParts) {
      std::vector<Run> runs = countedRuns(lowPeak, ranks, partOfAvailable(part, lowPeak));
      for (Run& run : runs) {
        if (auto packed = assignTimedOffsets(lowPeak, run.times, available_)) {
          auto orderings = reuseOrderings(packed->reuses, lowPeak, problem_.list, run.times);
          return {{std::move(run.times), std::move(orderings), std::move(packed->offsets)}};
        }
      }
      ranks.clear();
      const size_t most = std::max<size_t>(2, tasksOfRuns / std::max<size_t>(1, problem_.list.tasks.size()));
      for (const Run& run : llvm::ArrayRef(runs).take_front(most)) {
        ranks.push_back(run.ranks);
      }
    }
    return {};
  }

  struct Run {
    ListResult times;
    std::vector<double> ranks;
  };
  // The fastest first.
  std::vector<Run> countedRuns(const LowPeakOrder& lowPeak, const std::vector<std::vector<double>>& ranks,
                               const SideTable<DeviceId, int64_t>& counted) const {
    std::vector<Run> runs;
    for (const std::vector<double>& priority : ranks) {
      AdmissionControl admission(lowPeak, counted, std::nullopt);
      if (auto times = listSchedule(problem_.list, priority, admission)) {
        runs.push_back({*std::move(times), priority});
      }
    }
    llvm::stable_sort(runs, [](const Run& a, const Run& b) { return a.times.makespan < b.times.makespan; });
    return runs;
  }

  // What the low-peak order needs is never held back.
  SideTable<DeviceId, int64_t> partOfAvailable(double part, const LowPeakOrder& lowPeak) const {
    SideTable<DeviceId, int64_t> bytes(available_);
    for (const DeviceId device : overCapacity_) {
      const auto reduced = static_cast<int64_t>(part * static_cast<double>(available_[device]));
      bytes[device] = std::max(reduced, lowPeak.peak[device]);
    }
    return bytes;
  }

  std::vector<Attempt> tryStaticOffsets(const LowPeakOrder& lowPeak) const {
    std::vector<Attempt> attempts;
    auto places = assignStaticOffsets(lowPeak, available_);
    if (!places) {
      return attempts;
    }
    LowPeakOrder ordered; // without buffers: the orderings alone make the reuse safe
    ordered.order = lowPeak.order;
    ordered.requirements.tasks.resize(lowPeak.order.size());
    ordered.orderings = std::move(places->orderings);
    ordered.orderings.insert(ordered.orderings.end(), lowPeak.orderings.begin(), lowPeak.orderings.end());
    for (const auto& priority : priorities(lowPeak)) {
      AdmissionControl admission(ordered, available_, FitRule::LowestAddress);
      auto times = listSchedule(problem_.list, priority, admission);
      DFC_ASSERT(times.has_value(), "orderings that follow an order close no cycle");
      attempts.push_back({*std::move(times), ordered.orderings, places->offsets});
    }
    return attempts;
  }

  const PlacedGraph& placed_;
  const Schedule& unconstrained_;
  const Machine& machine_;
  ScheduleProblem problem_;
  SideTable<DeviceId, int64_t> available_;  // bytes for buffers, behind resident values
  SideTable<DeviceId, int64_t> lowestPeak_; // peak of the low-peak order
  llvm::SmallVector<DeviceId, 2> overCapacity_;
};

} // namespace

Result<FittedPlan> fitMemory(const PlacedGraph& placed, const Schedule& unconstrained, const Machine& machine,
                             const CostModel& cost, Diagnostics capacityErrors) {
  return MemoryFitter(placed, unconstrained, machine, cost).run(std::move(capacityErrors));
}

} // namespace dfc
