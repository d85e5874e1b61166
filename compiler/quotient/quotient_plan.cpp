#include "compiler/quotient/quotient_plan.h"

#include "compiler/lower_options.h"
#include "compiler/place/memory_demand.h"
#include "compiler/place/place.h"
#include "compiler/quotient/quotient_machine.h"
#include "compiler/run_passes.h"
#include "compiler/split/take_cuts.h"
#include "compiler/split/unfold_batch_norms.h"
#include "ir/author/text/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace dfc {
namespace {

/// A pipeline has at least one micro-batch for so many stages.
constexpr size_t stagesPerMicroBatch = 4;
/// Numbers of micro-batches that are simulated; other numbers are extrapolated.
constexpr size_t few = 1, more = 2;
/// Ratio of the memory of a plan that does not fit to that with half the micro-batches, from which more of
/// them are not tried.
constexpr double lessMemory = 0.9;

/// A simulated step: its seconds, and for each stage memory and computation.
struct Simulated {
  double seconds = 0;
  std::vector<double> state, working; // bytes of parameters and optimiser state; of other values
  std::vector<double> busy;           // seconds of computation
};

std::optional<Simulated> simulated(const Graph& graph, const QuotientMachine& quotient, const CostModel& cost,
                                   const CompileOptions& options) {
  const Machine& machine = quotient.machine;
  auto fused = runPasses(PassPhase::Fuse, graph, machine, options);
  auto placed = fused ? place(*fused, machine, cost, "pins") : Result<Placement>(fused.errors());
  if (!placed) {
    return std::nullopt;
  }
  Simulated made;
  made.seconds = predictedMakespan(*placed, decided(*placed, machine, cost, lowerOptionsOf(options)));
  SideTable<DeviceId, double> busy(machine.devices.size(), 0);
  for (const OpId op : placed->graph.ops()) {
    const DeviceId device = placed->device[op];
    busy[device] += cost.opSeconds(placed->graph, op, machine, device);
  }
  const MemoryDemand demand = memoryDemand(*placed, machine);
  for (const auto& row : quotient.rows.stages) {
    made.busy.push_back(busy[row.front()]);
    made.state.push_back(demand.state[row.front()]);
    made.working.push_back(demand.likely[row.front()] - demand.state[row.front()]);
  }
  return made;
}

// Linear extrapolation to `count` micro-batches. A further micro-batch takes the difference of the two
// simulated steps, and at least the computation that it adds to the busiest stage.
double extrapolated(const Simulated& withFew, const Simulated& withMore, size_t count) {
  double growth = withMore.seconds - withFew.seconds;
  for (size_t stage = 0; stage < withFew.busy.size(); ++stage) {
    growth = std::max(growth, withMore.busy[stage] - withFew.busy[stage]);
  }
  return std::max(withFew.seconds, withMore.seconds) +
         growth / (more - few) * (static_cast<double>(count) - static_cast<double>(more));
}

std::string describe(const Grid& grid, size_t microBatches) {
  const std::string groups =
      fmt::format("{} of {}", counted(grid.groups, "group"), counted(grid.width, "device"));
  return (grid.stages > 1 ? fmt::format("pipeline of {} stages, each of {}", grid.stages, groups) : groups) +
         microBatchText(microBatches);
}

class Planner {
 public:
  Planner(const Graph& rewritten, const Machine& machine, llvm::ArrayRef<DeviceId> devices, const Grid& grid,
          const CostModel& cost, const CompileOptions& options)
      : graph_(unfoldBatchNorms(takeCuts(rewritten).graph)),
        quotient_(quotientMachine(machine, devices, grid, cost)), grid_(grid), cost_(cost),
        options_(options) {
    const int64_t bytes = machine.devices[devices.front()].memoryBytes;
    capacity_ = bytes > 0 ? static_cast<double>(bytes) : HUGE_VAL;
  }

  std::optional<QuotientPlan> best() const {
    const size_t least = std::max<size_t>(grid_.stages / stagesPerMicroBatch, 1);
    std::optional<QuotientPlan> best;
    size_t count = microBatchCount(grid_);
    for (; count >= least && !best; count /= 2) {
      best = with(count);
    }
    // More micro-batches: shorter times of idle stages, and less memory.
    for (count = best ? best->microBatches : 0; best && (grid_.stages > 1 || !best->fits); count *= 2) {
      auto next = with(2 * count);
      if (!next ||
          (!isBetter(*next, *best) && (best->fits || next->memoryBytes > lessMemory * best->memoryBytes))) {
        break;
      }
      best = std::move(next);
    }
    return best;
  }

  std::optional<QuotientPlan> with(size_t count) const {
    QuotientPlan plan{grid_, count, 0, 0, 0, true, describe(grid_, count), {}};
    const auto withFew = simulate(plan, few);
    const auto withMore = withFew && count > few ? simulate(plan, more) : withFew;
    if (!withMore) {
      return std::nullopt;
    }
    plan.seconds = count > few ? extrapolated(*withFew, *withMore, count) : withFew->seconds;
    for (size_t stage = 0; stage < grid_.stages; ++stage) {
      const size_t inFlight = std::min(count, grid_.stages - stage);
      const double bytes = withMore->state[stage] + static_cast<double>(inFlight) * withMore->working[stage];
      if (bytes > plan.memoryBytes) {
        plan.memoryBytes = bytes;
        plan.stateBytes = withMore->state[stage];
      }
    }
    plan.fits = plan.memoryBytes <= capacity_;
    plan.split.description = plan.description;
    return plan;
  }

 private:
  std::optional<Simulated> simulate(QuotientPlan& plan, size_t made) const {
    auto split = splitOverGrid(graph_, quotient_.rows, quotient_.machine, cost_, {plan.microBatches, made});
    if (!split) {
      return std::nullopt;
    }
    plan.split = *std::move(split);
    return simulated(plan.split.graph, quotient_, cost_, options_);
  }

  Graph graph_;
  QuotientMachine quotient_;
  const Grid& grid_;
  const CostModel& cost_;
  const CompileOptions& options_;
  double capacity_ = 0; // bytes of a device
};

} // namespace

bool isBetter(const QuotientPlan& a, const QuotientPlan& b) {
  return std::pair(!a.fits, a.seconds) < std::pair(!b.fits, b.seconds);
}

std::optional<QuotientPlan> quotientPlan(const Graph& rewritten, const Machine& machine,
                                         llvm::ArrayRef<DeviceId> devices, const WantedGrid& wanted,
                                         const CostModel& cost, const CompileOptions& options) {
  const Planner planner(rewritten, machine, devices, wanted.grid, cost, options);
  return wanted.microBatches ? planner.with(*wanted.microBatches) : planner.best();
}

} // namespace dfc
