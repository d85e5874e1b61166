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
#include "ir/graph/micro_batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace dfc {
namespace {

/// A pipeline of p stages has at least p / stagesPerMicroBatch micro-batches.
constexpr size_t stagesPerMicroBatch = 4;
/// Numbers of micro-batches that are simulated; other numbers are extrapolated.
constexpr size_t few = 1, more = 2;
/// Steps of up to as many ops are simulated with all their micro-batches.
constexpr size_t mostSimulatedOps = 40'000;
/// The number of micro-batches of a plan that does not fit is doubled as long as that leaves less than this
/// part of its memory.
constexpr double lessMemory = 0.9;

/// The seconds of simulated steps with few and with more micro-batches, and those in which each stage
/// computes the last micro-batch.
struct Simulated {
  double withFew = 0, withMore = 0;
  std::vector<double> ofLast;
};

// Linear extrapolation to `count` micro-batches. A further micro-batch takes the difference of the two
// simulated steps, between two bounds: at least the computation that it adds to the busiest stage, at most
// that plus one stage's share of the waits of a single micro-batch. With only two micro-batches in a deep
// pipeline, the list scheduler lets the second one wait longer than in a full pipeline.
double extrapolated(const Simulated& made, size_t count) {
  const double least = *std::max_element(made.ofLast.begin(), made.ofLast.end());
  const double computed = std::accumulate(made.ofLast.begin(), made.ofLast.end(), 0.0);
  const double waits = std::max(0.0, made.withFew - computed) / static_cast<double>(made.ofLast.size());
  const double growth = std::clamp(made.withMore - made.withFew, least, least + waits);
  return std::max(made.withFew, made.withMore) +
         growth / (more - few) * (static_cast<double>(count) - static_cast<double>(more));
}

std::string describe(const Grid& grid, size_t microBatches) {
  const std::string groups =
      fmt::format("{} of {}", counted(grid.groups, "group"), counted(grid.width, "device"));
  return (grid.stages > 1 ? fmt::format("pipeline of {} stages, each of {}", grid.stages, groups) : groups) +
         microBatchText(microBatches);
}

/// The least number of micro-batches of equal length from `least` on; 0 for none.
size_t evenFrom(size_t least, size_t length) {
  for (; least <= length && length % least != 0; ++least) {
  }
  return least <= length ? least : 0;
}

} // namespace

class QuotientPlanner::Planner {
 public:
  Planner(const Graph& rewritten, const Machine& machine, llvm::ArrayRef<DeviceId> devices,
          const WantedGrid& wanted, const CostModel& cost, const CompileOptions& options)
      : graph_(unfoldBatchNorms(takeCuts(rewritten).graph)),
        quotient_(quotientMachine(machine, devices, wanted.grid, cost)), wanted_(wanted), cost_(cost),
        options_(options), splitter_(graph_, quotient_.rows, quotient_.machine, cost_) {
    const int64_t bytes = machine.devices[devices.front()].memoryBytes;
    capacity_ = bytes > 0 ? static_cast<double>(bytes) : HUGE_VAL;
  }

  std::optional<QuotientPlan> first() {
    if (wanted_.microBatches) {
      return with(*wanted_.microBatches, Seconds::Predicted);
    }
    const size_t length = grid_.stages > 1 ? batchLength() : 1;
    const size_t least = std::max<size_t>(grid_.stages / stagesPerMicroBatch, 1);
    std::optional<QuotientPlan> plan;
    for (size_t most = microBatchCount(grid_); most >= least && !plan;) {
      const size_t count = evenMicroBatches(most, length);
      plan = with(count, Seconds::OfThoseThatFit);
      most = count - 1;
    }
    return plan;
  }

  // More micro-batches: shorter times of idle stages, and less memory.
  QuotientPlan improved(QuotientPlan best) {
    double bytes = best.memoryBytes;
    for (size_t count = best.microBatches; mayGain(best);) {
      count = evenFrom(2 * count, batchLength());
      auto next = count > 0 ? with(count, Seconds::OfThoseThatFit) : std::nullopt;
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

  QuotientPlan simulated(QuotientPlan plan) {
    return plan.isBound ? with(plan.microBatches, Seconds::Predicted).value_or(plan) : plan;
  }

  // Of a step with ops that are computed twice, or in an order of small peaks, a few micro-batches are so
  // ordered, and stand for all.
  QuotientPlan simulatedWhole(QuotientPlan plan) {
    const size_t ops = plan.split.graph.opCount() / more * plan.microBatches;
    if (plan.isReordered || plan.microBatches <= more || ops > mostSimulatedOps) {
      return plan;
    }
    QuotientPlan whole;
    whole.microBatches = plan.microBatches;
    if (const auto placement = placed(whole, plan.microBatches, plan.memory)) {
      plan.seconds = simulated(*placement);
    }
    return plan;
  }

 private:
  /// Of which plans the seconds are predicted; others have a lower bound.
  enum class Seconds : uint8_t { Predicted, OfThoseThatFit };

  size_t batchLength() { return static_cast<size_t>(splitter_.batchOfGroup()); }

  std::optional<QuotientPlan> with(size_t count, Seconds seconds) {
    auto plan = with(count, seconds, MemoryUse::Ample);
    if (plan && (!plan->fits || plan->recomputes) && mayUseLittle()) {
      if (auto little = with(count, seconds, MemoryUse::Little); little && isBetter(*little, *plan)) {
        plan = std::move(little);
      }
    }
    return plan;
  }

  std::optional<QuotientPlan> with(size_t count, Seconds seconds, MemoryUse memory) {
    QuotientPlan plan;
    plan.grid = grid_;
    plan.microBatches = count;
    plan.memory = memory;
    plan.description = describe(grid_, count);
    const auto withFew = placed(plan, few, memory);
    if (!withFew) {
      return std::nullopt;
    }
    const std::optional<Placement> fewer = fitted(plan, *withFew);
    if (!plan.fits && seconds == Seconds::OfThoseThatFit) { // nor do more micro-batches
      plan.seconds = leastSeconds(*withFew, count);
      plan.isBound = true;
    } else if (count == few) {
      plan.seconds = simulated(fewer ? *fewer : *withFew);
    } else if (!extrapolate(plan, *withFew, memory)) {
      return std::nullopt;
    }
    plan.description = describe(grid_, count) + (plan.recomputes ? ", with recomputation" : "");
    plan.split.description = plan.description;
    return plan;
  }

  // Sets the memory of a plan, and its seconds from those with few and with more micro-batches. False if
  // there is no split. With few, which hold no sums of gradients, as many ops are computed twice as if they
  // held these: else the difference would not be that of a micro-batch.
  bool extrapolate(QuotientPlan& plan, const Placement& withFew, MemoryUse memory) {
    const auto withMore = placed(plan, more, memory);
    if (!withMore) {
      return false;
    }
    const std::optional<Placement> several = fitted(plan, *withMore);
    std::optional<Rematerialised> fewer;
    if (several && plan.recomputes) {
      const InFlight inFlight = this->inFlight(plan.microBatches);
      const double held = partOfFree(sumsOf(*withMore).all, memoryOf(withFew, inFlight));
      fewer = rematerialise(withFew, quotient_.machine, cost_, 1 - held, &inFlight);
    }
    const Placement& last = several ? *several : *withMore;
    const auto isOfLast = [&](OpId op) { return microBatchOf(last.graph.scopeOf(op)) == more - 1 ? 1 : 0; };
    plan.seconds =
        extrapolated({simulated(fewer ? fewer->placement : withFew), simulated(last), busyOf(last, isOfLast)},
                     plan.microBatches);
    return true;
  }

  /// Bytes of the sums that micro-batches leave to the update, such as those of gradients.
  struct Sums {
    SideTable<DeviceId, double> all;
    SideTable<DeviceId, double> missing; ///< in few micro-batches, where the first parts have 16 bits
  };
  Sums sumsOf(const Placement& placement) const {
    const Graph& graph = placement.graph;
    const size_t devices = quotient_.machine.devices.size();
    Sums sums{SideTable<DeviceId, double>(devices, 0), SideTable<DeviceId, double>(devices, 0)};
    SideTable<ValueId, bool> isCounted(graph.valueCount(), false);
    const auto batchOf = [&](ValueId value) { return microBatchOf(graph.scopeOf(graph[value].producer)); };
    const auto bytesOf = [&](ValueId value) { return static_cast<double>(graph.typeOf(value).bytes()); };
    for (const OpId reader : graph.ops()) {
      for (const ValueId sum : graph[reader].operands) {
        const auto batch = batchOf(sum);
        if (isCounted[sum] || !batch || microBatchOf(graph.scopeOf(reader))) {
          continue;
        }
        isCounted[sum] = true;
        const OpId producer = graph[sum].producer;
        double before = 0;
        for (const ValueId operand : graph[producer].operands) {
          before += batchOf(operand).value_or(*batch) != *batch ? bytesOf(operand) : 0;
        }
        sums.all[placement.device[producer]] += bytesOf(sum);
        sums.missing[placement.device[producer]] += before > 0 ? std::max(0.0, bytesOf(sum) - before) : 0;
      }
    }
    return sums;
  }

  /// `bytes` over the memory that a stage's state leaves free: the largest ratio of all stages.
  double partOfFree(const SideTable<DeviceId, double>& bytes, const StageMemory& memory) const {
    const std::vector<DeviceId> devices = firstOfStages();
    double most = 0;
    for (size_t stage = 0; stage < devices.size(); ++stage) {
      most = std::max(most, bytes[devices[stage]] / std::max(1.0, capacity_ - memory.state[stage]));
    }
    return std::min(most, 1.0);
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

  StageMemory memoryOf(const Placement& placement, const InFlight& inFlight) const {
    return stageMemory(placement, inFlight, firstOfStages(), quotient_.machine);
  }

  // Sets the memory of a plan, that of the stage that needs most. Where it does not fit in the graph's order:
  // a placement that does, in an order of smaller peaks, and if need be with ops computed twice, if one is
  // found.
  std::optional<Placement> fitted(QuotientPlan& plan, const Placement& placement) const {
    const InFlight inFlight = this->inFlight(plan.microBatches);
    const SideTable<DeviceId, double> missing = sumsOf(placement).missing;
    StageMemory memory = memoryOf(placement, inFlight);
    for (size_t stage = 0; stage < memory.all.size(); ++stage) {
      memory.all[stage] += missing[firstOfStages()[stage]];
    }
    const auto most = std::max_element(memory.all.begin(), memory.all.end());
    plan.memoryBytes = *most;
    plan.stateBytes = memory.state[static_cast<size_t>(most - memory.all.begin())];
    plan.fits = plan.memoryBytes <= capacity_;
    plan.recomputes = false;
    plan.isReordered = !plan.fits;
    if (plan.fits) {
      return std::nullopt;
    }
    const double share = 1 - partOfFree(missing, memory);
    auto ordered = orderedForMemory(placement, quotient_.machine, cost_, share, &inFlight);
    if (!ordered) {
      return std::nullopt;
    }
    plan.memoryBytes = 0;
    for (const DeviceId device : firstOfStages()) {
      plan.memoryBytes = std::max(plan.memoryBytes, ordered->bytes[device] + missing[device]);
    }
    plan.fits = true;
    plan.recomputes = ordered->ops > 0;
    return std::move(ordered->placement);
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

  double simulated(const Placement& placement) const {
    const Machine& machine = quotient_.machine;
    LowerOptions lowering = lowerOptionsOf(options_);
    lowering.peerReads = false; // what a mirror holds is not there to be read, and hosts have no peers
    return predictedMakespan(placement, decided(placement, machine, cost_, lowering));
  }

  /// Seconds of computation by stage. `times`: how often an op runs in a step.
  std::vector<double> busyOf(const Placement& placement, llvm::function_ref<double(OpId)> times) const {
    const Graph& graph = placement.graph;
    SideTable<DeviceId, double> busy(quotient_.machine.devices.size(), 0);
    for (const OpId op : graph.ops()) {
      const DeviceId device = placement.device[op];
      const double seconds = cost_.opSeconds(graph, op, quotient_.machine, device);
      busy[device] += seconds * times(op);
    }
    std::vector<double> ofStages;
    for (const DeviceId device : firstOfStages()) {
      ofStages.push_back(busy[device]);
    }
    return ofStages;
  }

  /// The computation of the busiest stage, from a placement with one micro-batch.
  double leastSeconds(const Placement& placement, size_t count) const {
    const Graph& graph = placement.graph;
    const std::vector<double> busy = busyOf(placement, [&](OpId op) {
      return microBatchOf(graph.scopeOf(op)) ? static_cast<double>(count) : 1.0;
    });
    return *std::max_element(busy.begin(), busy.end());
  }

  Graph graph_;
  QuotientMachine quotient_;
  const WantedGrid wanted_;
  const Grid& grid_ = wanted_.grid;
  const CostModel& cost_;
  const CompileOptions& options_;
  GridSplitter splitter_;
  double capacity_ = 0; // bytes of a device
};

bool isBetter(const QuotientPlan& a, const QuotientPlan& b) {
  return std::pair(!a.fits, a.seconds) < std::pair(!b.fits, b.seconds);
}

QuotientPlanner::QuotientPlanner(const Graph& rewritten, const Machine& machine,
                                 llvm::ArrayRef<DeviceId> devices, const WantedGrid& wanted,
                                 const CostModel& cost, const CompileOptions& options)
    : planner_(std::make_unique<Planner>(rewritten, machine, devices, wanted, cost, options)) {}

QuotientPlanner::~QuotientPlanner() = default;

std::optional<QuotientPlan> QuotientPlanner::first() { return planner_->first(); }

QuotientPlan QuotientPlanner::improved(QuotientPlan plan) { return planner_->improved(std::move(plan)); }

QuotientPlan QuotientPlanner::simulated(QuotientPlan plan) { return planner_->simulated(std::move(plan)); }

QuotientPlan QuotientPlanner::simulatedWhole(QuotientPlan plan) {
  return planner_->simulatedWhole(std::move(plan));
}

} // namespace dfc
