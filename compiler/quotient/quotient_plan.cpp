#include "compiler/quotient/quotient_plan.h"

#include "compiler/lower_options.h"
#include "compiler/place/place.h"
#include "compiler/quotient/quotient_machine.h"
#include "compiler/quotient/stage_memory.h"
#include "compiler/rematerialise/rematerialise.h"
#include "compiler/run_passes.h"
#include "compiler/split/take_cuts.h"
#include "compiler/split/unfold_batch_norms.h"
#include "ir/author/text/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace dfc {
namespace {

/// A pipeline of p stages has at least p / stagesPerMicroBatch micro-batches.
constexpr size_t stagesPerMicroBatch = 4;
/// Numbers of micro-batches that are simulated; other numbers are extrapolated.
constexpr size_t few = 1, more = 2;
/// The number of micro-batches of a plan that does not fit is doubled as long as that leaves less than this
/// part of its memory.
constexpr double lessMemory = 0.9;

/// A simulated step: its seconds, and those of computation by stage.
struct Simulated {
  double seconds = 0;
  std::vector<double> busy;
};

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
        quotient_(quotientMachine(machine, devices, grid, cost)), grid_(grid), cost_(cost), options_(options),
        splitter_(graph_, quotient_.rows, quotient_.machine, cost_) {
    const int64_t bytes = machine.devices[devices.front()].memoryBytes;
    capacity_ = bytes > 0 ? static_cast<double>(bytes) : HUGE_VAL;
  }

  std::optional<QuotientPlan> first() {
    const size_t least = std::max<size_t>(grid_.stages / stagesPerMicroBatch, 1);
    std::optional<QuotientPlan> plan;
    for (size_t count = microBatchCount(grid_); count >= least && !plan; count /= 2) {
      plan = with(count);
    }
    return plan;
  }

  // More micro-batches: shorter times of idle stages, and less memory.
  QuotientPlan improved(QuotientPlan best) {
    double bytes = best.memoryBytes;
    for (size_t count = 2 * best.microBatches; mayGain(best); count *= 2) {
      auto next = with(count);
      if (!next) {
        break;
      }
      const bool needsLess = next->memoryBytes < lessMemory * bytes;
      bytes = next->memoryBytes;
      if (isBetter(*next, best)) {
        best = *std::move(next);
      } else if (best.fits || !needsLess) {
        break;
      }
    }
    return best;
  }

  std::optional<QuotientPlan> with(size_t count) {
    auto plan = with(count, MemoryUse::Ample);
    if (plan && (!plan->fits || plan->recomputes) && mayUseLittle()) {
      if (auto little = with(count, MemoryUse::Little); little && isBetter(*little, *plan)) {
        plan = std::move(little);
      }
    }
    return plan;
  }

 private:
  std::optional<QuotientPlan> with(size_t count, MemoryUse memory) {
    QuotientPlan plan;
    plan.grid = grid_;
    plan.microBatches = count;
    const auto withFew = placed(plan, few, memory);
    const auto withMore = withFew && count > few ? placed(plan, more, memory) : withFew;
    if (!withMore) {
      return std::nullopt;
    }
    setMemory(plan, *withMore);
    std::optional<Placement> fewer, several;
    if (!plan.fits) {
      recompute(plan, *withFew, *withMore, fewer, several);
    }
    const Simulated last = simulated(several ? *several : *withMore);
    plan.seconds =
        count > few ? extrapolated(simulated(fewer ? *fewer : *withFew), last, count) : last.seconds;
    plan.description = describe(grid_, count) + (plan.recomputes ? ", with recomputation" : "");
    plan.split.description = plan.description;
    return plan;
  }

  // Pipelines of many devices take long to split.
  bool mayUseLittle() const {
    return grid_.width > 1 &&
           (grid_.stages == 1 || grid_.stages * grid_.groups * grid_.width <= mostPlannedDevices);
  }

  bool mayGain(const QuotientPlan& plan) const { return grid_.stages > 1 || !plan.fits || plan.recomputes; }

  /// Of every stage with its mirrors. The last stage finishes a micro-batch before it begins the next.
  InFlight inFlight(size_t count) const {
    const size_t devices = quotient_.machine.devices.size();
    InFlight made{SideTable<DeviceId, uint32_t>(devices, InFlight::noStage),
                  SideTable<DeviceId, uint32_t>(devices, 1)};
    for (const auto* rows : {&quotient_.rows.stages, &quotient_.rows.groups}) {
      for (size_t row = 0; row < rows->size(); ++row) {
        for (const DeviceId device : (*rows)[row]) {
          made.stage[device] = static_cast<uint32_t>(row);
          made.count[device] = static_cast<uint32_t>(std::min(count, grid_.stages - row));
        }
      }
    }
    return made;
  }

  std::vector<DeviceId> firstOfStages() const {
    std::vector<DeviceId> devices;
    for (const auto& row : quotient_.rows.stages) {
      devices.push_back(row.front());
    }
    return devices;
  }

  // Of the stage that needs most.
  void setMemory(QuotientPlan& plan, const Placement& placement) const {
    const StageMemory memory =
        stageMemory(placement, inFlight(plan.microBatches), firstOfStages(), quotient_.machine);
    const auto most = std::max_element(memory.all.begin(), memory.all.end());
    plan.memoryBytes = *most;
    plan.stateBytes = memory.state[static_cast<size_t>(most - memory.all.begin())];
    plan.fits = plan.memoryBytes <= capacity_;
  }

  std::optional<Placement> placed(QuotientPlan& plan, size_t made, MemoryUse memory) {
    auto split = splitter_.split({plan.microBatches, made, memory});
    if (!split) {
      return std::nullopt;
    }
    plan.split = *std::move(split);
    auto fused = runPasses(PassPhase::Fuse, plan.split.graph, quotient_.machine, options_);
    auto placed = fused ? place(*fused, quotient_.machine, cost_, "pins") : Result<Placement>(fused.errors());
    return placed ? std::optional(*std::move(placed)) : std::nullopt;
  }

  Simulated simulated(const Placement& placement) const {
    const Machine& machine = quotient_.machine;
    Simulated made;
    LowerOptions lowering = lowerOptionsOf(options_);
    lowering.peerReads = false; // what a mirror holds is not there to be read, and hosts have no peers
    made.seconds = predictedMakespan(placement, decided(placement, machine, cost_, lowering));
    SideTable<DeviceId, double> busy(machine.devices.size(), 0);
    for (const OpId op : placement.graph.ops()) {
      const DeviceId device = placement.device[op];
      busy[device] += cost_.opSeconds(placement.graph, op, machine, device);
    }
    for (const auto& row : quotient_.rows.stages) {
      made.busy.push_back(busy[row.front()]);
    }
    return made;
  }

  // Placements that fit as ops are computed twice, where they are found.
  void recompute(QuotientPlan& plan, const Placement& withFew, const Placement& withMore,
                 std::optional<Placement>& fewer, std::optional<Placement>& several) const {
    const InFlight inFlight = this->inFlight(plan.microBatches);
    auto repeated = rematerialise(withMore, quotient_.machine, cost_, 1, &inFlight);
    if (!repeated) {
      return;
    }
    several = std::move(repeated->placement);
    if (plan.microBatches > few) {
      if (auto repeatedFew = rematerialise(withFew, quotient_.machine, cost_, 1, &inFlight)) {
        fewer = std::move(repeatedFew->placement);
      }
    }
    plan.memoryBytes = capacity_;
    plan.fits = plan.recomputes = true;
  }

  Graph graph_;
  QuotientMachine quotient_;
  const Grid& grid_;
  const CostModel& cost_;
  const CompileOptions& options_;
  GridSplitter splitter_;
  double capacity_ = 0; // bytes of a device
};

} // namespace

bool isBetter(const QuotientPlan& a, const QuotientPlan& b) {
  return std::pair(!a.fits, a.seconds) < std::pair(!b.fits, b.seconds);
}

std::optional<QuotientPlan> quotientPlan(const Graph& rewritten, const Machine& machine,
                                         llvm::ArrayRef<DeviceId> devices, const WantedGrid& wanted,
                                         const CostModel& cost, const CompileOptions& options) {
  Planner planner(rewritten, machine, devices, wanted.grid, cost, options);
  return wanted.microBatches ? planner.with(*wanted.microBatches) : planner.first();
}

QuotientPlan improvedPlan(QuotientPlan plan, const Graph& rewritten, const Machine& machine,
                          llvm::ArrayRef<DeviceId> devices, const CostModel& cost,
                          const CompileOptions& options) {
  const Grid grid = plan.grid;
  return Planner(rewritten, machine, devices, grid, cost, options).improved(std::move(plan));
}

} // namespace dfc
