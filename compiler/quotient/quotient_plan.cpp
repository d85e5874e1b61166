#include "compiler/quotient/quotient_plan.h"

#include "compiler/lower_options.h"
#include "compiler/place/memory_demand.h"
#include "compiler/place/place.h"
#include "compiler/quotient/quotient_machine.h"
#include "compiler/rematerialise/rematerialise.h"
#include "compiler/run_passes.h"
#include "compiler/split/take_cuts.h"
#include "compiler/split/unfold_batch_norms.h"
#include "ir/author/text/units.h"
#include "ir/graph/micro_batch.h"
#include "ir/plan/placed_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
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

/// Bytes by stage.
struct StageMemory {
  std::vector<double> state;      // of parameters and optimiser state
  std::vector<double> held, work; // of other values: held once, for all micro-batches; at most in total
};

// Bytes on each device that are alive between two micro-batches: sums of gradients, weights in 16 bits.
// `made`: micro-batches in the graph; 0 bytes for one.
SideTable<DeviceId, double> heldBytes(const Placement& placement, size_t devices, size_t made) {
  const Graph& graph = placement.graph;
  SideTable<DeviceId, double> held(devices, 0);
  if (made < more) {
    return held;
  }
  // The ops are in the order of their micro-batches: the boundary is the first op of the second one.
  uint32_t second = 0;
  for (const OpId op : graph.ops()) {
    if (graph[op].kind() != OpKind::Input && microBatchOf(graph.scopeOf(op)) == 1U) {
      second = op.index();
      break;
    }
  }
  const auto isView = [&](OpId op) { return classOf(graph[op].kind()) == OpClass::View; };
  std::set<std::pair<uint32_t, uint32_t>> counted; // values and devices
  for (uint32_t i = second; i < graph.opCount(); ++i) {
    const OpId reader(i);
    for (ValueId value : graph[reader].operands) {
      while (isView(graph[value].producer)) {
        value = graph[graph[value].producer].operands[0];
      }
      const OpId producer = graph[value].producer;
      if (producer.index() >= second || isResident(graph[producer].kind()) ||
          graph[producer].kind() == OpKind::Assign) {
        continue;
      }
      for (const DeviceId device : {placement.device[producer], placement.device[reader]}) {
        if (counted.insert({value.index(), device.index()}).second) {
          held[device] += static_cast<double>(graph.typeOf(value).bytes());
        }
      }
    }
  }
  return held;
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
    QuotientPlan plan;
    plan.grid = grid_;
    plan.microBatches = count;
    const auto withFew = placed(plan, few);
    const auto withMore = withFew && count > few ? placed(plan, more) : withFew;
    if (!withMore) {
      return std::nullopt;
    }
    const StageMemory memory = memoryOf(*withMore, count > few ? more : few);
    for (size_t stage = 0; stage < grid_.stages; ++stage) {
      const double bytes = memory.state[stage] + memory.held[stage] +
                           inFlight(stage, count) * (memory.work[stage] - memory.held[stage]);
      if (bytes > plan.memoryBytes) {
        plan.memoryBytes = bytes;
        plan.stateBytes = memory.state[stage];
      }
    }
    plan.fits = plan.memoryBytes <= capacity_;
    std::optional<Placement> fewer, several;
    if (!plan.fits) {
      recompute(plan, *withFew, *withMore, memory, fewer, several);
    }
    const Simulated last = simulated(several ? *several : *withMore);
    plan.seconds =
        count > few ? extrapolated(simulated(fewer ? *fewer : *withFew), last, count) : last.seconds;
    plan.description = describe(grid_, count) + (plan.recomputes ? ", with recomputation" : "");
    plan.split.description = plan.description;
    return plan;
  }

 private:
  bool mayGain(const QuotientPlan& plan) const { return grid_.stages > 1 || !plan.fits || plan.recomputes; }

  /// Micro-batches between their forward and their backward pass at a stage.
  double inFlight(size_t stage, size_t count) const {
    return static_cast<double>(std::min(count, grid_.stages - stage));
  }

  std::optional<Placement> placed(QuotientPlan& plan, size_t made) {
    auto split = splitter_.split({plan.microBatches, made});
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
    made.seconds = predictedMakespan(placement, decided(placement, machine, cost_, lowerOptionsOf(options_)));
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

  /// `made`: micro-batches in the graph.
  StageMemory memoryOf(const Placement& placement, size_t made) const {
    const Machine& machine = quotient_.machine;
    const MemoryDemand demand = memoryDemand(placement, machine);
    const SideTable<DeviceId, double> held = heldBytes(placement, machine.devices.size(), made);
    StageMemory memory;
    for (const auto& row : quotient_.rows.stages) {
      const DeviceId device = row.front();
      memory.state.push_back(demand.state[device]);
      memory.work.push_back(demand.likely[device] - demand.state[device]);
      memory.held.push_back(std::min(held[device], memory.work.back()));
    }
    return memory;
  }

  // Placements in which the values of a micro-batch take their part of the memory, as ops are computed twice.
  void recompute(QuotientPlan& plan, const Placement& withFew, const Placement& withMore,
                 const StageMemory& memory, std::optional<Placement>& fewer,
                 std::optional<Placement>& several) const {
    Machine limited = quotient_.machine;
    for (size_t stage = 0; stage < grid_.stages; ++stage) {
      const double once = memory.state[stage] + memory.held[stage];
      const double each = (capacity_ - once) / inFlight(stage, plan.microBatches);
      if (each <= 0) {
        return;
      }
      limited.devices[quotient_.rows.stages[stage].front()].memoryBytes = static_cast<int64_t>(once + each);
    }
    auto repeated = rematerialise(withMore, limited, cost_, 1);
    if (!repeated) {
      return;
    }
    several = std::move(repeated->placement);
    if (plan.microBatches > few) {
      if (auto repeatedFew = rematerialise(withFew, limited, cost_, 1)) {
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
